// SPDX-License-Identifier: Apache-2.0
// The row codecs of hif4 on every instruction set against the scalar row.

#include "codec_suite.hpp"

namespace lowbit::test {

INSTANTIATE_TYPED_TEST_SUITE_P(hif4, row_codecs, rows_of<hif4>, isa_names);

}  // namespace lowbit::test

// SPDX-License-Identifier: Apache-2.0
// The row codecs of mxint8 on every instruction set against the scalar row.

#include "codec_suite.hpp"

namespace lowbit::test {

INSTANTIATE_TYPED_TEST_SUITE_P(mxint8, row_codecs, rows_of<mxint8>, isa_names);

}  // namespace lowbit::test

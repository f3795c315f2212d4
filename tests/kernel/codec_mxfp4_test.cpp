// SPDX-License-Identifier: Apache-2.0
// The row codecs of mxfp4 on every instruction set against the scalar row.

#include "codec_suite.hpp"

namespace lowbit::test {

INSTANTIATE_TYPED_TEST_SUITE_P(mxfp4, row_codecs, rows_of<mxfp4>, isa_names);

}  // namespace lowbit::test

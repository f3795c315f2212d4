// SPDX-License-Identifier: Apache-2.0
// The row codecs of int8_block on every instruction set against the scalar row.

#include "codec_suite.hpp"

namespace lowbit::test {

INSTANTIATE_TYPED_TEST_SUITE_P(int8_block, row_codecs, rows_of<int8_block>, isa_names);

}  // namespace lowbit::test

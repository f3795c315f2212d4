// SPDX-License-Identifier: Apache-2.0
// The row codecs of m2xfp_activation and m2xfp_weight on every instruction set against the scalar row.

#include "codec_suite.hpp"

namespace lowbit::test {

INSTANTIATE_TYPED_TEST_SUITE_P(m2xfp_activation, row_codecs, rows_of<m2xfp_activation>, isa_names);
INSTANTIATE_TYPED_TEST_SUITE_P(m2xfp_weight, row_codecs, rows_of<m2xfp_weight>, isa_names);

}  // namespace lowbit::test

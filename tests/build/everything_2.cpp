// SPDX-License-Identifier: Apache-2.0
// The second of two units that include everything.
#include "all_headers.hpp"

int everything_2();
int everything_2() { return static_cast<int>(lowbit::hif4::block_size); }

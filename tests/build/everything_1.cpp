// SPDX-License-Identifier: Apache-2.0
// The first of two units that include everything; what is not inline collides when they are linked.
#include "all_headers.hpp"

int everything_1();
int everything_1() { return static_cast<int>(lowbit::hif4::block_size); }

// SPDX-License-Identifier: Apache-2.0
// Links the units that include everything; there is nothing else to run.

int everything_1();
int everything_2();

int main() { return everything_1() == everything_2() ? 0 : 1; }

// SPDX-License-Identifier: Apache-2.0
// The guard gives the default floating-point environment and gives the caller's back.

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdint>

#include <lowbit/arch/fp_environment.hpp>
#include <lowbit/core/bits.hpp>

#include "support/fp_environments.hpp"

namespace lowbit::arch {
namespace {

float third(float one) {
    volatile float three = 3.0F;
    volatile float x = one;
    x = x / three;
    return x;
}

float halved(std::uint32_t bits) {
    volatile float x = float_from_bits(bits);
    volatile float half = 0.5F;
    x = x * half;
    return x;
}

TEST(fp_environment, case19_every_environment_of_a_caller_is_replaced_and_restored) {
    for (int which = 0; which < test::caller_environments; ++which) {
        const test::caller_environment caller(which);
        {
            const fp_guard guard;
            EXPECT_EQ(to_bits(third(1.0F)), 0x3EAAAAABU);
            EXPECT_EQ(to_bits(third(-1.0F)), 0xBEAAAAABU);
            EXPECT_EQ(to_bits(halved(0x00800000U)), 0x00400000U);  // a subnormal result
            EXPECT_EQ(to_bits(halved(0x00000004U)), 0x00000002U);  // a subnormal operand
        }
        EXPECT_TRUE(caller.unchanged()) << which;
    }
}

TEST(fp_environment, guards_nest) {
    const test::caller_environment caller(5);
    {
        const fp_guard outer;
        { const fp_guard inner; }
        EXPECT_EQ(to_bits(halved(0x00800000U)), 0x00400000U);
    }
    EXPECT_TRUE(caller.unchanged());
}

TEST(fp_environment, exception_flags_of_the_caller_stay_as_they_were) {
    std::feclearexcept(FE_ALL_EXCEPT);
    {
        const fp_guard guard;
        static_cast<void>(third(1.0F));
    }
    EXPECT_EQ(std::fetestexcept(FE_INEXACT), 0);
}

}  // namespace
}  // namespace lowbit::arch

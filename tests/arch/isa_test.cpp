// SPDX-License-Identifier: Apache-2.0
// Names, the choice of an instruction set, and what LOWBIT_ISA may say.

#include <gtest/gtest.h>

#include <string>

#include <lowbit/arch/isa.hpp>

namespace lowbit::arch {
namespace {

constexpr cpu_features none{}, all{true, true, true, true, true};

std::string text_of_error(const char* forced, const cpu_features& features) {
    try {
        static_cast<void>(choose(forced, features));
    } catch (const error& e) {
        return e.what();
    }
    return {};
}

TEST(isa, names_are_distinct) {
    for (const isa a : all_isas) {
        for (const isa b : all_isas) EXPECT_EQ(to_string(a) == to_string(b), a == b);
    }
}

TEST(isa, the_best_that_runs_is_chosen) {
    EXPECT_EQ(choose(nullptr, none), compiled(isa::neon) ? isa::neon : isa::scalar);
    EXPECT_EQ(choose("", none), choose(nullptr, none));
    const isa best = choose(nullptr, all);
    for (const isa which : all_isas) {
        if (compiled(which)) {
            EXPECT_EQ(best, which);
            break;
        }
    }
}

TEST(isa, a_forced_one_is_taken_or_refused) {
    EXPECT_EQ(choose("scalar", all), isa::scalar);
    for (const isa which : all_isas) {
        const std::string name(to_string(which));
        if (compiled(which)) {
            EXPECT_EQ(choose(name.c_str(), all), which);
            if (!runs(which, none)) {
                EXPECT_EQ(text_of_error(name.c_str(), none),
                          "lowbit: LOWBIT_ISA=" + name + " is not supported by this processor or operating system");
            }
        } else {
            EXPECT_EQ(text_of_error(name.c_str(), all),
                      "lowbit: LOWBIT_ISA=" + name + " is not compiled into this program for this machine");
        }
    }
    EXPECT_EQ(text_of_error("avx9", all),
              "lowbit: LOWBIT_ISA=avx9 is not one of scalar, avx2, avx512vnni, avx512vbmi, amx, neon, neon_dotprod");
    EXPECT_NE(text_of_error("AVX2", all), "");
    EXPECT_NE(text_of_error("avx2 ", all), "");
}

TEST(isa, what_is_active_is_available) { EXPECT_TRUE(available().contains(active_isa())); }

}  // namespace
}  // namespace lowbit::arch

// SPDX-License-Identifier: Apache-2.0
// The instruction sets that the library has code for, which of them can run here, and the one that does.
//
// Preference: amx, avx512vbmi, avx512vnni, avx2 on x86-64; neon_dotprod, neon on aarch64; scalar anywhere. The
// environment variable LOWBIT_ISA (one of these names) forces one; a name that is unknown, not compiled into this
// program or not supported by the machine is an error at first use, never a silent fallback. All of them give the same
// bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <lowbit/arch/cpu.hpp>
#include <lowbit/arch/target.hpp>
#include <lowbit/core/error.hpp>

namespace lowbit {

/// An instruction set, in ascending order of preference on its kind of machine.
enum class isa : std::uint8_t {
    scalar,        ///< plain C++, anywhere
    neon,          ///< aarch64
    neon_dotprod,  ///< aarch64 with SDOT and UDOT
    avx2,          ///< x86-64 with AVX2, FMA and F16C
    avx512vnni,    ///< x86-64 with AVX-512 F DQ BW VL VNNI
    avx512vbmi,    ///< avx512vnni and VBMI
    amx            ///< avx512vbmi and AMX TILE, BF16, INT8
};

/// The name of `which`, as LOWBIT_ISA takes it.
[[nodiscard]] constexpr std::string_view to_string(isa which) noexcept {
    switch (which) {
        case isa::scalar: return "scalar";
        case isa::neon: return "neon";
        case isa::neon_dotprod: return "neon_dotprod";
        case isa::avx2: return "avx2";
        case isa::avx512vnni: return "avx512vnni";
        case isa::avx512vbmi: return "avx512vbmi";
        case isa::amx: return "amx";
    }
    return "unknown";
}

namespace arch {

/// All instruction sets, best first.
inline constexpr std::array<isa, 7> all_isas{isa::amx,          isa::avx512vbmi, isa::avx512vnni, isa::avx2,
                                             isa::neon_dotprod, isa::neon,       isa::scalar};

/// Whether a processor with these features runs the code of `which`.
[[nodiscard]] constexpr bool runs(isa which, const cpu_features& features) noexcept {
    switch (which) {
        case isa::scalar: return true;
        case isa::neon: return LOWBIT_AARCH64 != 0;
        case isa::neon_dotprod: return features.neon_dotprod;
        case isa::avx2: return features.avx2;
        case isa::avx512vnni: return features.avx512vnni;
        case isa::avx512vbmi: return features.avx512vbmi;
        case isa::amx: return features.amx;
    }
    return false;
}

// What follows depends on the flags of the translation unit, hence the baseline in the name.
inline namespace LOWBIT_BASELINE_NAMESPACE {

/// Whether this translation unit holds code of `which`.
[[nodiscard]] constexpr bool compiled(isa which) noexcept {
    switch (which) {
        case isa::scalar: return true;
        case isa::neon: return LOWBIT_COMPILES_NEON != 0;
        case isa::neon_dotprod: return LOWBIT_COMPILES_NEON_DOTPROD != 0;
        case isa::avx2: return LOWBIT_COMPILES_AVX2 != 0;
        case isa::avx512vnni: return LOWBIT_COMPILES_AVX512VNNI != 0;
        case isa::avx512vbmi: return LOWBIT_COMPILES_AVX512VBMI != 0;
        case isa::amx: return LOWBIT_COMPILES_AMX != 0;
    }
    return false;
}

/// The instruction set to use on a processor with these `features`: the best one, or the one that `forced` (the value
/// of LOWBIT_ISA; null or empty: none) names. Errors: an unknown name; an instruction set that this machine or this
/// unit lacks.
[[nodiscard]] inline isa choose(const char* forced, const cpu_features& features) {
    const std::string_view name = forced != nullptr ? std::string_view(forced) : std::string_view();
    for (const isa which : all_isas) {
        const bool usable = compiled(which) && runs(which, features);
        if (name.empty() && usable) return which;
        if (!name.empty() && name == to_string(which)) {
            if (usable) return which;
            detail::fail(detail::message("lowbit: LOWBIT_ISA=", name,
                                         compiled(which) ? " is not supported by this processor or operating system"
                                                         : " is not compiled into this program for this machine"));
        }
    }
    detail::fail(detail::message("lowbit: LOWBIT_ISA=", name,
                                 " is not one of scalar, avx2, avx512vnni, avx512vbmi, amx, neon, neon_dotprod"));
}

/// The choice of this process, made at first use; safe from global constructors and from many threads at once.
[[nodiscard]] inline isa active() {
    static const isa chosen = choose(std::getenv("LOWBIT_ISA"), features_of(read_cpu()));
    return chosen;
}

/// Whether float additions have other ports than dot products on this processor: a matter of speed only.
[[nodiscard]] inline bool adds_beside_products() noexcept {
    static const bool adds = features_of(read_cpu()).adds_beside_products;
    return adds;
}

/// A short list of instruction sets.
class isa_list {
  public:
    /// Appends `which`.
    constexpr void add(isa which) noexcept { items_[size_++] = which; }
    /// How many.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    /// The first.
    [[nodiscard]] constexpr const isa* begin() const noexcept { return items_.data(); }
    /// Past the last.
    [[nodiscard]] constexpr const isa* end() const noexcept { return items_.data() + size_; }
    /// Whether `which` is in the list.
    [[nodiscard]] constexpr bool contains(isa which) const noexcept {
        for (const isa item : *this) {
            if (item == which) return true;
        }
        return false;
    }

  private:
    std::array<isa, all_isas.size()> items_{};
    std::size_t size_ = 0;
};

/// The instruction sets that can run here and now, best first; scalar is always the last.
[[nodiscard]] inline isa_list available() noexcept {
    isa_list list;
    const cpu_features features = features_of(read_cpu());
    for (const isa which : all_isas) {
        if (compiled(which) && runs(which, features)) list.add(which);
    }
    return list;
}

}  // namespace LOWBIT_BASELINE_NAMESPACE
}  // namespace arch

/// The instruction set whose kernels this process runs.
/// Errors: LOWBIT_ISA names none, or one that cannot run here.
[[nodiscard]] inline isa active_isa() { return arch::active(); }

}  // namespace lowbit

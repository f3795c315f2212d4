// SPDX-License-Identifier: Apache-2.0
#include "environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <lowbit/arch/isa.hpp>
#include <lowbit/core/config.hpp>

#include "commit.hpp"

namespace bench_report {
namespace {

/// The value of the first line of /proc/cpuinfo that begins with `key`, or "".
std::string processor_field(const std::string& key) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "";
}

std::string processor() {
    const std::string name = processor_field("model name");
    if (!name.empty()) return name;
    const std::string part = processor_field("CPU part");  // 64-bit Arm has no names there
    return part.empty() ? "unknown"
                        : fmt::format("Arm implementer {} part {}", processor_field("CPU implementer"), part);
}

std::string system_name() {
    utsname name{};
    if (::uname(&name) != 0) return "unknown";
    return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

}  // namespace

environment this_environment() {
    environment out;
    out.cpu = processor();
    out.isa = std::string(lowbit::to_string(lowbit::active_isa()));
    out.cores = std::thread::hardware_concurrency();
    out.system = system_name();
#if defined(__clang__)
    out.compiler = fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    out.compiler = "g++ " __VERSION__;
#endif
    out.flags = LOWBIT_REPORT_FLAGS;
    out.lowbit = fmt::format("{}.{}.{}", LOWBIT_VERSION_MAJOR, LOWBIT_VERSION_MINOR, LOWBIT_VERSION_PATCH);
    out.commit = report_commit;
    const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    out.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
    return out;
}

std::string machine_line(const environment& machine) {
    return fmt::format("{}, {} core{}, instruction set {}", machine.cpu, machine.cores, machine.cores == 1 ? "" : "s",
                       machine.isa);
}

std::string build_line(const environment& machine) {
    return fmt::format("lowbit {} at {}, {} {}, {}", machine.lowbit, machine.commit, machine.compiler, machine.flags,
                       machine.date);
}

}  // namespace bench_report

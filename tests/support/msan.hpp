// SPDX-License-Identifier: Apache-2.0
// Included ahead of every source that is built with MemorySanitizer (clang++ -include), which wants the whole program
// compiled with it. libstdc++.so is not: its templates, strings and streams above all, are instantiated here instead of
// taken from there, and the text of an exception counts as written.
#pragma once

#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE  // <bits/c++config.h> sets it whatever -D says
#define _GLIBCXX_EXTERN_TEMPLATE 0

#define GTEST_HAS_RTTI 0  // else GoogleTest has names of types demangled there

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstddef>
#include <locale>
#include <stdexcept>

#include <sanitizer/msan_interface.h>

// libstdc++.so writes exceptions of its own classes.
__attribute__((weak)) void* __cxxabiv1::__cxa_allocate_exception(std::size_t size) noexcept {
    using function = void* (*)(std::size_t);
    static const auto allocate = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "__cxa_allocate_exception"));
    void* const memory = allocate(size);
    __msan_unpoison(memory, size);
    return memory;
}

// Its texts; the virtual functions there are these.
__attribute__((weak, no_sanitize("memory"))) const char* std::logic_error::what() const noexcept {
    __msan_unpoison_string(_M_msg._M_p);
    return _M_msg._M_p;
}
__attribute__((weak, no_sanitize("memory"))) const char* std::runtime_error::what() const noexcept {
    __msan_unpoison_string(_M_msg._M_p);
    return _M_msg._M_p;
}

// Its tables of characters, filled with a comparison of memory that it wrote; without them each character is looked up.
__attribute__((weak)) void std::ctype<char>::_M_widen_init() const {}
__attribute__((weak)) void std::ctype<char>::_M_narrow_init() const {}

// SPDX-License-Identifier: Apache-2.0
// How the library reports a wrong argument or a bad file: exceptions, or one replaceable handler with -fno-exceptions.
//
// Contract of every public function: arguments are checked before anything is written, and the text names the public
// function, the argument and the two numbers that disagree, as in
//
//     lowbit::quantize: rows 3 of output 'out' do not match rows 4 of input 'q'
//
// NaN and Inf in the data are data, never errors.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include <lowbit/core/config.hpp>

namespace lowbit {

/// A wrong argument: shapes that do not match, null data, bad stride, overlap, size overflow, unknown name.
class error : public std::invalid_argument {
  public:
    using std::invalid_argument::invalid_argument;
};

/// A file that cannot be read or written, or whose content is malformed.
class io_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Receives the text of an error where exceptions are off. It should not return: the library then aborts.
using error_handler = void (*)(const char* text);

namespace detail {

inline void default_error_handler(const char*) { std::abort(); }

inline std::atomic<error_handler> current_error_handler{&default_error_handler};

}  // namespace detail

/// Replaces the handler that -fno-exceptions builds call; null restores the default, which prints nothing and aborts.
/// Returns the handler before. Safe to call from several threads.
inline error_handler set_error_handler(error_handler handler) noexcept {
    return detail::current_error_handler.exchange(handler != nullptr ? handler : &detail::default_error_handler);
}

namespace detail {

inline void append(std::string& text, std::string_view part) { text.append(part); }

inline void append(std::string& text, char part) { text.push_back(part); }

template <std::integral Integer>
requires(!std::same_as<Integer, char>) void append(std::string& text, Integer part) {
    text.append(std::to_string(part));
}

/// Text of the parts (string views, characters, integers) one after the other.
template <class... Parts>
[[nodiscard, gnu::cold, gnu::noinline]] std::string message(const Parts&... parts) {
    std::string text;
    (append(text, parts), ...);
    return text;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void call_error_handler(const char* text) {
    current_error_handler.load()(text);
    std::abort();
}

// The template parameter keeps translation units with and without exceptions from sharing one symbol.

/// Reports a wrong argument: throws `error`, or calls the handler.
template <bool Throws = (LOWBIT_EXCEPTIONS != 0)>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const std::string& text) {
#if LOWBIT_EXCEPTIONS
    throw error(text);
#else
    call_error_handler(text.c_str());
#endif
}

/// Reports a bad file: throws `io_error`, or calls the handler.
template <bool Throws = (LOWBIT_EXCEPTIONS != 0)>
[[noreturn, gnu::cold, gnu::noinline]] void fail_io(const std::string& text) {
#if LOWBIT_EXCEPTIONS
    throw io_error(text);
#else
    call_error_handler(text.c_str());
#endif
}

/// An option that is an enumeration: the field of the options, what it holds and the last enumerator, the first being
/// 0.
struct enumerated_option {
    std::string_view field;
    unsigned value;
    unsigned last;
};

/// Refuses a value that the enumeration does not have; `name` is the public function that asks, `prefix` leads to the
/// field.
inline void check_enumerated(std::string_view name, std::string_view prefix, const enumerated_option& option) {
    if (option.value <= option.last) return;
    fail(message(name, ": option '", prefix, option.field, "' is ", option.value, ", but its last value is ",
                 option.last));
}

/// Refuses null data of `count` > 0 elements; `what` names the argument: "option 'bias'".
inline void check_not_null(std::string_view name, std::string_view what, const void* data, std::size_t count) {
    if (data != nullptr || count == 0) return;
    fail(message(name, ": ", what, " is null, but has ", count, " elements"));
}

}  // namespace detail
}  // namespace lowbit

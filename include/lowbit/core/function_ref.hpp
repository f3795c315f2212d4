// SPDX-License-Identifier: Apache-2.0
// A non-owning reference to a callable, two words wide: how loop bodies cross a type-erased boundary.
//
// Without <functional> and <memory> (which brings in streams), a fifth of what lowbit.hpp would take to compile.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace lowbit {

/// Defined for signatures only: function_ref<void(int)>.
template <class Signature>
class function_ref;

/// Refers to any callable with the signature `Result(Arguments...)` without owning or copying it.
/// The callable must outlive the reference: pass a function_ref down a call, do not store one made from a temporary.
/// Cost: one indirect call; never allocates, never throws by itself.
template <class Result, class... Arguments>
class function_ref<Result(Arguments...)> {
  public:
    /// Refers to `callable`, a function object or lambda (also const, also a temporary for the length of the full
    /// expression).
    template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, function_ref> &&
             !std::is_function_v<std::remove_reference_t<Callable>> &&
             !std::is_pointer_v<std::remove_cvref_t<Callable>> && requires(Callable & object, Arguments... arguments) {
                 static_cast<Result>(object(std::forward<Arguments>(arguments)...));
             }) function_ref(Callable&& callable)
    noexcept  // NOLINT(google-explicit-constructor): a parameter type
        : target_{.object = const_cast<void*>(static_cast<const volatile void*>(__builtin_addressof(callable)))},
          invoke_([](callee to, Arguments... arguments) -> Result {
              auto& object = *static_cast<std::remove_reference_t<Callable>*>(to.object);
              return static_cast<Result>(object(std::forward<Arguments>(arguments)...));
          }) {}

    /// From a plain function.
    function_ref(Result (*function)(Arguments...)) noexcept  // NOLINT(google-explicit-constructor)
        : target_{.function = function}, invoke_([](callee to, Arguments... arguments) -> Result {
              return to.function(std::forward<Arguments>(arguments)...);
          }) {}

    /// Calls it.
    Result operator()(Arguments... arguments) const { return invoke_(target_, std::forward<Arguments>(arguments)...); }

  private:
    union callee {
        void* object;
        Result (*function)(Arguments...);
    };
    callee target_;
    Result (*invoke_)(callee, Arguments...);
};

}  // namespace lowbit

// SPDX-License-Identifier: Apache-2.0
// Whether this program runs under a sanitizer whose own operator new ends it where an allocation fails.
#pragma once

namespace lowbit::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool failed_allocation_ends_program = true;
#elif defined(__has_feature)
# if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool failed_allocation_ends_program = true;
# else
inline constexpr bool failed_allocation_ends_program = false;
# endif
#else
inline constexpr bool failed_allocation_ends_program = false;
#endif

}  // namespace lowbit::test

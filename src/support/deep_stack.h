// Room for recursion: the compiler walks chains of operations by recursion, and a caller's thread
// may have a stack of a few KiB. Not for work that is done often: a thread costs some 20 us.
#pragma once

#include <functional>

namespace enceladus {

// Whether this thread has megabytes of stack left, enough for every kernel that is not refused.
bool has_deep_stack();

// Calls `work` here where this thread has megabytes of stack left, else on a thread that has, and
// returns when it is done. Exceptions of `work` reach the caller. Throws std::runtime_error where
// the system gives no thread.
void with_deep_stack(const std::function<void()>& work);

}  // namespace enceladus

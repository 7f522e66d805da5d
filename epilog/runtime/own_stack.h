// A stack of our own for the work that needs more of one than a call may take of the program's.
//
// Threads may have stacks of 16 KB, fibers of 8, and the program has measured how much it needs of
// them alone. What a recorded call does there takes at most 1 KB (a test adds it up); what happens
// once (a thread's file, a place in the program that is new, a flush) runs on memory of ours. Up to
// its end the thread takes no signals, since their handlers would run there, too, or leave it by a
// longjmp, and is not cancelled. The unwinder finds its way through to the program's frames. Stacks
// are kept for the next thread that needs one; without memory for one the work is done where we
// are, and so it is under sanitizers, which would have to be told.
#pragma once

#include <memory>
#include <type_traits>

namespace kojak::measure {

using Work = void (*)(void* data);
void run_on_own_stack(Work work, void* data);

// Little is on the caller's stack: f and what it returns lie there together, once.
template <class F>
auto on_own_stack(F f) -> decltype(f()) {
  using Result = decltype(f());
  if constexpr (std::is_void_v<Result>) {
    run_on_own_stack([](void* data) { (*static_cast<F*>(data))(); }, std::addressof(f));
  } else {
    struct Data {
      F f;
      Result result;
    } data{f, Result{}};
    run_on_own_stack(
        [](void* p) {
          auto& d = *static_cast<Data*>(p);
          d.result = d.f();
        },
        &data);
    return data.result;
  }
}

}  // namespace kojak::measure

#include "epilog/runtime/python_memory.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

namespace kojak::measure {

constinit Python the_python;

namespace {

enum class State { kUnknown, kNone, kThere };
std::atomic<State> state{State::kUnknown};

// What the interpreter publishes of its layout; false if it does not, or it cannot be read.
bool read_published(std::byte (&to)[kPythonPublished]) {
  const void* const runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
  return PythonReader{false}.copy(reinterpret_cast<std::uint64_t>(runtime), to, sizeof to);
}

}  // namespace

bool python_is_found() {
  return state.load(std::memory_order_acquire) == State::kThere;
}

bool find_python() {
  const State now = state.load(std::memory_order_acquire);
  if (now != State::kUnknown) return now == State::kThere;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  const auto* const version = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "Py_Version"));
  void* const thread_state = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  const auto type = [](const char* name) {
    return reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, name));
  };
  State found = State::kNone;
  std::byte published[kPythonPublished];
  PythonLayout layout;
  if (state.load(std::memory_order_acquire) == State::kUnknown && version != nullptr &&
      thread_state != nullptr && sizeof(void*) == 8 &&
      find_python_layout(*version, read_published(published) ? published : nullptr, layout)) {
    the_python = {reinterpret_cast<void* (*)()>(thread_state),
                  type("PyCode_Type"),
                  type("PyUnicode_Type"),
                  type("PyBytes_Type"),
                  layout,
                  code_around(thread_state)};
    if (the_python.code_type != 0 && the_python.text_type != 0 && the_python.bytes_type != 0) {
      found = State::kThere;
    }
  }
  State before = State::kUnknown;
  state.compare_exchange_strong(before, found, std::memory_order_acq_rel);
  pthread_mutex_unlock(&mutex);
  return python_is_found();
}

PythonChain python_chain(const PythonReader& reader) {
  PythonChain chain{reinterpret_cast<std::uint64_t>(the_python.thread_state()), 0, 0};
  const auto& where = the_python.layout.thread;
  std::uint64_t ident = 0;
  chain.frames = chain.thread;
  if (chain.thread == 0 || !reader.copy(chain.thread + where.ident, &ident, sizeof ident) ||
      ident != static_cast<std::uint64_t>(pthread_self()) ||
      (where.frames_apart &&
       !reader.copy(chain.thread + where.frames, &chain.frames, sizeof chain.frames)) ||
      !reader.copy(chain.frames + where.current, &chain.innermost, sizeof chain.innermost)) {
    chain.innermost = 0;
  }
  return chain;
}

bool read_python_frame(const PythonReader& reader, std::uint64_t at, PythonFrame& frame) {
  std::byte raw_frame[kMostPythonFrame];
  if (!reader.copy(at, raw_frame, the_python.layout.frame.size)) return false;
  frame = python_frame(the_python.layout, raw_frame);
  return true;
}

}  // namespace kojak::measure

#include "epilog/runtime/thread_start.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "epilog/runtime/behind.h"

namespace kojak::measure {
namespace {

// Bits of the field, how many there are, and where it stands.
struct Field {
  std::uint32_t bits, count, offset;
};
const Field* start_field = nullptr;
CodeRange threads_file;

void find_start_field() {
  const void* const field = dlsym(RTLD_DEFAULT, "_thread_db_pthread_start_routine");
  if (field == nullptr) return;
  threads_file = file_of(field).range;
  start_field = static_cast<const Field*>(field);
}

}  // namespace

ThreadStart start_of_this_thread() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_start_field);
  ThreadStart start;
  if (start_field == nullptr || start_field->bits != 8 * sizeof start.function) return start;
  const auto* const self = reinterpret_cast<const char*>(pthread_self());
  memcpy(&start.function, self + start_field->offset, sizeof start.function);
  start.caller = threads_file;
  return start;
}

}  // namespace kojak::measure

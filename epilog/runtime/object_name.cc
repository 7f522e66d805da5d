#include "epilog/runtime/object_name.h"

#include <cstring>

#include "epilog/runtime/comm_object.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/memory.h"

namespace kojak::measure {
namespace {

std::uint32_t names_given = 0;

template <class F>
bool write_named(Recorder& r, const ObjectName& name, const F& record) {
  if (name.given == 0) return true;
  if (!need_room(r, string_room(name.length) + kMaxRecord)) return false;
  const StringId text = define_string(r, name.text == nullptr ? "" : name.text, name.length);
  return write_definition(r, record(text, Count{name.given}));
}

}  // namespace

void ObjectName::set_constant(const char* name) {
  clear();
  text = name;
  length = static_cast<std::uint32_t>(std::strlen(name));
  given = ++names_given;
}

bool ObjectName::set(const char* name) {
  if (name == nullptr) return false;
  std::size_t size = strnlen(name, kMostName);
  while (size != 0 && name[size - 1] == ' ') --size;
  auto* const copy = static_cast<char*>(allocate(size + 1));
  if (copy == nullptr) return false;
  std::memcpy(copy, name, size);
  copy[size] = '\0';
  clear();
  text = copy;
  length = static_cast<std::uint32_t>(size);
  owned = length + 1;
  given = ++names_given;
  return true;
}

void ObjectName::clear() {
  if (owned != 0) release(const_cast<char*>(text), owned);
  text = nullptr;
  length = owned = 0;
}

bool write_name(Recorder& r, CommId comm, const ObjectName& name) {
  return write_named(r, name, [comm](StringId text, Count given) {
    return CommName{comm, text, given};
  });
}
bool write_name(Recorder& r, WindowId window, const ObjectName& name) {
  return write_named(r, name, [window](StringId text, Count given) {
    return WinName{window, text, given};
  });
}

}  // namespace kojak::measure

#include "expert/findings/object_words.h"

#include <algorithm>

#include "epilog/format/field_values.h"
#include "epilog/format/upc_names.h"

namespace kojak::expert {
namespace {

// Names that say what it is without "communicator".
bool says_what_it_is(std::string_view name) {
  return name.starts_with("MPI_COMM_") || name.starts_with("SHMEM_TEAM_");
}

template <class Objects>
bool is_shared(const Objects& objects, std::string_view name) {
  std::size_t count = 0;
  objects.for_each([&](auto, const auto& object) { count += object.name == name ? 1 : 0; });
  return count > 1;
}

std::string numbered(std::string words, const Operation& operation) {
  return std::move(words) + " (number " + std::to_string(operation.id) + ')';
}

std::string lock_words(const Definitions& definitions, const Operation& operation) {
  const VariableDef* const variable = definitions.shmem_locks.find(LockId{operation.id});
  if (variable == nullptr) return object_name(operation);
  const std::string file = variable->file.substr(variable->file.rfind('/') + 1);
  std::string words = "the lock " + variable->name + (file.empty() ? "" : " (" + file + ')');
  std::size_t same = 0;
  definitions.shmem_locks.for_each([&](LockId, const VariableDef& other) {
    same += other.name == variable->name && other.file == variable->file ? 1 : 0;
  });
  return same > 1 ? numbered(std::move(words), operation) : words;
}

}  // namespace

std::string_view object_kind(const Operation& operation) {
  switch (operation.object) {
    case Operation::Object::kNothing:
      break;
    case Operation::Object::kCommunicator:
      return "communicator";
    case Operation::Object::kWindow:
      return "window";
    case Operation::Object::kLock:
      return "lock";
  }
  return {};
}

std::string object_name(const Operation& operation) {
  std::string name(object_kind(operation));
  if (name.empty() || operation.id == kAbsent) return {};
  if (operation.object == Operation::Object::kLock && operation.id >= kFirstMutex) {  // of ARMCI
    const std::uint32_t mutex = operation.id & ((1u << kMutexBits) - 1);
    const std::uint32_t process = operation.id >> kMutexBits & kMutexProcesses;
    return "mutex " + std::to_string(mutex) + " of process " + std::to_string(process);
  }
  name += ' ' + std::to_string(operation.id);
  if (operation.process != kNoLocation) name += " of rank " + std::to_string(operation.process);
  return name;
}

std::string_view given_name(const Definitions& definitions, const Operation& operation) {
  const auto name_of = [](const auto* object) {
    return object == nullptr ? std::string_view() : std::string_view(object->name);
  };
  switch (operation.object) {
    case Operation::Object::kNothing:
      break;
    case Operation::Object::kCommunicator:
      return name_of(definitions.comms.find(CommId{operation.id}));
    case Operation::Object::kWindow:
      return name_of(definitions.windows.find(WindowId{operation.id}));
    case Operation::Object::kLock:
      return name_of(definitions.shmem_locks.find(LockId{operation.id}));
  }
  return {};
}

std::string object_words(const Definitions& definitions, const Operation& operation,
                         const std::string& made_at, bool others_made_there) {
  if (object_name(operation).empty()) return {};
  if (operation.object == Operation::Object::kLock) return lock_words(definitions, operation);
  const bool window = operation.object == Operation::Object::kWindow;
  const std::string_view name = given_name(definitions, operation);
  if (!window && names_all_of_upc(name)) return {};
  const std::string kind(object_kind(operation));
  std::string words;
  if (!name.empty()) {
    words = says_what_it_is(name) ? std::string(name) : kind + ' ' + std::string(name);
    if (window ? is_shared(definitions.windows, name) : is_shared(definitions.comms, name))
      words = numbered(std::move(words), operation);
  } else if (!made_at.empty()) {
    words = "the " + kind + " made at " + made_at;
    if (others_made_there) words = numbered(std::move(words), operation);
  } else {
    words = kind + ' ' + std::to_string(operation.id);
  }
  if (operation.process == kNoLocation) return words;
  return "rank " + std::to_string(operation.process) + "'s part of " + words;
}

std::string object_words(const Report& report, const Operation& operation) {
  const bool window = operation.object == Operation::Object::kWindow;
  if (!window && operation.object != Operation::Object::kCommunicator)
    return object_words(report.definitions(), operation, {});
  const auto& all = window ? report.waits().windows : report.waits().communicators;
  const auto made = all.find(operation.id);
  const std::size_t path = made == all.end() ? kNone : report.path_at(made->second);
  if (path == kNone) return object_words(report.definitions(), operation, {});
  const bool others = std::any_of(all.begin(), all.end(), [&](const auto& other) {
    return other.first != made->first && other.second == made->second;
  });
  return object_words(report.definitions(), operation,
                      site_name(report.definitions(), report.program_site(path)), others);
}

}  // namespace kojak::expert

#include "expert/findings/object_words.h"

#include <algorithm>

#include "epilog/format/field_values.h"
#include "epilog/format/upc_names.h"

namespace kojak::expert {
namespace {

// Names that say what it is without "communicator".
bool says_what_it_is(std::string_view name) {
  return name.starts_with("MPI_COMM_") || name.starts_with("SHMEM_TEAM_") ||
         name.starts_with("ARMCI_GROUP_");
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

// As its processes number it.
std::string allocation_words(const Operation& operation) {
  constexpr std::uint32_t kNumber = (1u << kAllocationBits) - 1;
  const std::uint32_t number = operation.id;
  if (number < kAllocationOfGroup) return "allocation " + std::to_string(number);
  return "allocation " + std::to_string(number & kNumber) + " of a group";
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
    case Operation::Object::kAllocation:
      return "allocation";
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
  if (operation.object == Operation::Object::kAllocation) {
    name = allocation_words(operation);
  } else {
    name += ' ' + std::to_string(operation.id);
  }
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
    case Operation::Object::kAllocation:
      break;
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
  if (operation.object == Operation::Object::kAllocation) {
    words = allocation_words(operation);
    if (!made_at.empty()) words += " (" + made_at + ')';
  } else if (!name.empty()) {
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

const std::unordered_map<std::uint32_t, CallPathIndex>* calls_that_made(const WaitResults& waits,
                                                                        Operation::Object object) {
  switch (object) {
    case Operation::Object::kNothing:
    case Operation::Object::kLock:
      break;
    case Operation::Object::kCommunicator:
      return &waits.communicators;
    case Operation::Object::kWindow:
      return &waits.windows;
    case Operation::Object::kAllocation:
      return &waits.allocations;
  }
  return nullptr;
}

std::string object_words(const Report& report, const Operation& operation) {
  const auto* const all = calls_that_made(report.waits(), operation.object);
  if (all == nullptr) return object_words(report.definitions(), operation, {});
  const auto made = all->find(operation.id);
  const std::size_t path = made == all->end() ? kNone : report.path_at(made->second);
  if (path == kNone) return object_words(report.definitions(), operation, {});
  std::string made_at = site_name(report.definitions(), report.program_site(path));
  if (operation.object == Operation::Object::kAllocation) {
    const std::size_t library = report.library_call(path);
    const std::string call =
        report.region_name(report.call_paths()[library == kNone ? path : library].region);
    made_at = made_at.empty() ? call : call + " at " + made_at;
    return object_words(report.definitions(), operation, made_at);
  }
  const bool others = std::any_of(all->begin(), all->end(), [&](const auto& other) {
    return other.first != made->first && other.second == made->second;
  });
  return object_words(report.definitions(), operation, made_at, others);
}

}  // namespace kojak::expert

#include "epilog/gasp/language.h"

#include <stdio.h>
#include <string.h>

#include <atomic>

#include "epilog/format/field_values.h"
#include "epilog/format/run_property_keys.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/session.h"

namespace kojak::measure {
namespace {

struct Row {
  std::string_view name;
  unsigned region;
};
consteval unsigned region_named(std::string_view name) {
  return name.empty() ? kNoUpcRegion : upc_function(name);
}
constexpr Row kRows[] = {
#define KOJAK_GASP_EVENT(Name, NAME, region) {NAME, region_named(region)},
#include "epilog/gasp/events.def"
#undef KOJAK_GASP_EVENT
};
constexpr std::size_t kEvents = std::size(kRows);
static_assert(kEvents == static_cast<std::size_t>(GaspEvent::kUser));

const elg_gasp_language* language = nullptr;
bool only_plain = false;  // not UPC
// By number: a table of the small ones.
constexpr unsigned kSmallNumbers = 2048;
GaspEvent* small_events = nullptr;
HashMap<GaspEvent> events;
// Of the program's own events, from first_user on.
constexpr unsigned kMostNames = 4096;
std::atomic<const char*>* user_names = nullptr;
unsigned first_user = 1, last_user = 0, version = 0;
// The compiler's values of IN_NOSYNC ... OUT_ALLSYNC, 0 where it has none.
constexpr const char* kFlagNames[] = {"UPC_IN_NOSYNC",  "UPC_IN_MYSYNC",  "UPC_IN_ALLSYNC",
                                      "UPC_OUT_NOSYNC", "UPC_OUT_MYSYNC", "UPC_OUT_ALLSYNC"};
constexpr std::size_t kFlags = std::size(kFlagNames);
unsigned flags_of_compiler[kFlags] = {};

bool take(const elg_gasp_id& id) {
  const std::string_view name = id.name;
  if (name == "UPC_VERSION") version = id.id;
  if (name == "UPC_USEREVT_START") first_user = id.id;
  if (name == "UPC_USEREVT_END") last_user = id.id;
  for (std::size_t i = 0; i < kFlags; ++i) {
    if (name == kFlagNames[i]) flags_of_compiler[i] = id.id;
  }
  for (std::size_t i = 0; i < kEvents; ++i) {
    if (kRows[i].name != name) continue;
    if (id.id < kSmallNumbers) small_events[id.id] = static_cast<GaspEvent>(i);
    return events.set(id.id, static_cast<GaspEvent>(i)) != nullptr;
  }
  return true;
}

std::atomic<const char*>* name_of_user_event(unsigned tag) {
  if (user_names == nullptr || tag < first_user || tag > last_user) return nullptr;
  return tag - first_user < kMostNames ? &user_names[tag - first_user] : nullptr;
}

unsigned number_of(std::string_view name) {
  for (const elg_gasp_id* id = language->ids; id->name != nullptr; ++id) {
    if (id->name == name) return id->id;
  }
  return 0;
}

// Of the whole run.
void define_for_run(Recorder& r, const char* key, const char* value) {
  if (!make_room_for(r, string_room(strlen(key)) + string_room(strlen(value)) + kMaxRecord)) return;
  const StringId key_id = define_string(r, key, strlen(key));
  const StringId value_id = define_string(r, value, strlen(value));
  publish(r, put(r, r.cursor, RunProperty{key_id, value_id, absent<ProcessId>()}));
}

}  // namespace

unsigned region_of_event(GaspEvent event) {
  const auto i = static_cast<std::size_t>(event);
  return i < kEvents ? kRows[i].region : kNoUpcRegion;
}

bool learn_language(int model, const elg_gasp_language* given) {
  if (language != nullptr) return true;
  only_plain = model != ELG_GASP_UPC;
  small_events = static_cast<GaspEvent*>(allocate(kSmallNumbers * sizeof *small_events));
  if (small_events == nullptr) return false;
  memset(small_events, static_cast<int>(GaspEvent::kUnknown), kSmallNumbers);
  bool good = true;
  for (const elg_gasp_id* id = given->ids; id->name != nullptr; ++id) good = take(*id) && good;
  user_names = static_cast<std::atomic<const char*>*>(allocate(kMostNames * sizeof *user_names));
  language = given;
  return good;
}

const elg_gasp_language* the_language() {
  return language;
}

// It tells of the shared variables that it makes (BUPC_STATIC_SHARED), which is after gasp_init.
bool begins_before_memory() {
  return number_of("UPC_NOTIFY") == 1100;
}

bool moves_data_of_all(GaspEvent event) {
  switch (event) {
    case GaspEvent::kAllBroadcast:
    case GaspEvent::kAllScatter:
    case GaspEvent::kAllGather:
    case GaspEvent::kAllGatherAll:
    case GaspEvent::kAllExchange:
    case GaspEvent::kAllPermute:
    case GaspEvent::kAllReduce:
    case GaspEvent::kAllPrefixReduce:
      return true;
    default:
      return false;
  }
}

bool allocates_for_all(GaspEvent event) {
  return event == GaspEvent::kAllAlloc || event == GaspEvent::kAllLockAlloc;
}

bool all_meet_in(GaspEvent event) {
  return event == GaspEvent::kBarrier || event == GaspEvent::kNotify || allocates_for_all(event) ||
         moves_data_of_all(event);
}

const char* compiler_name() {
  if (number_of("C_FUNC") == 1) return "GNU UPC";
  if (begins_before_memory()) return "Berkeley UPC";
  return only_plain ? "a compiler with GASP" : "a UPC compiler";
}

GaspEvent event_of(unsigned tag) {
  GaspEvent event = GaspEvent::kUnknown;
  if (tag < kSmallNumbers) {
    event = small_events[tag];
  } else if (const GaspEvent* const known = events.find(tag)) {
    event = *known;
  }
  if (event != GaspEvent::kUnknown && (!only_plain || event == GaspEvent::kCFunc)) return event;
  return tag >= first_user && tag <= last_user ? GaspEvent::kUser : GaspEvent::kUnknown;
}

std::uint8_t recorded_flags(int flags) {
  unsigned recorded = 0;
  for (std::size_t i = 0; i < kFlags; ++i) {
    const unsigned flag = flags_of_compiler[i];
    if (flag != 0 && (static_cast<unsigned>(flags) & flag) == flag) recorded |= 1u << i;
  }
  if ((recorded & (kInNoSync | kInMySync)) == 0) recorded |= kInAllSync;
  if ((recorded & (kOutNoSync | kOutMySync)) == 0) recorded |= kOutAllSync;
  return static_cast<std::uint8_t>(recorded);
}

void name_user_event(unsigned tag, const char* name) {
  if (name == nullptr) return;
  const std::size_t size = strlen(name) + 1;
  auto* const copy = static_cast<char*>(allocate(size));
  if (copy == nullptr) return;
  memcpy(copy, name, size);
  std::atomic<const char*>* const known = name_of_user_event(tag);
  if (known != nullptr) known->store(copy, std::memory_order_release);
}

const char* user_event_name(unsigned tag) {
  std::atomic<const char*>* const known = name_of_user_event(tag);
  const char* const name = known != nullptr ? known->load(std::memory_order_acquire) : nullptr;
  return name != nullptr ? name : "user event";
}

void define_language(Recorder& r) {
  if (r.trace == nullptr || r.trace->rank != 0) return;
  define_for_run(r, run_property::kUpcCompiler, compiler_name());
  char key[64], value[16];
  snprintf(value, sizeof value, "%u", version);
  if (version != 0) define_for_run(r, run_property::kUpcVersion, value);
  for (const Row& row : kRows) {
    const elg_gasp_id* id = language->ids;
    while (id->name != nullptr && row.name != id->name) ++id;
    if (id->name == nullptr) continue;
    snprintf(key, sizeof key, "%s%s", run_property::kUpcEvent, id->name);
    snprintf(value, sizeof value, "%u", id->id);
    define_for_run(r, key, value);
  }
}

}  // namespace kojak::measure

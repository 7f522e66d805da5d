#include "epilog/runtime/user_regions.h"

#include <string.h>
#include <sys/mman.h>

#include "epilog/runtime/code.h"
#include "epilog/runtime/elg_user.h"
#include "epilog/runtime/filter.h"
#include "epilog/runtime/user_names.h"

namespace kojak::measure {

thread_local constinit UserStack the_user_stack __attribute__((tls_model("initial-exec"))) = {};

namespace {

// What keys of regions have that those of call sites have not.
constexpr std::uint64_t kUserKey = std::uint64_t{1} << 63, kFunctionKey = std::uint64_t{1} << 62;
constexpr RegionId kRejected = absent<RegionId>();

std::uint64_t key_of(const void* address, std::uint64_t kind) {
  return reinterpret_cast<std::uintptr_t>(address) | kind;
}

bool is_busy(const UserStack& stack) {
  return stack.ours != nullptr && is_open(stack.ours, __builtin_frame_address(0));
}

class Busy {
 public:
  Busy() : own_(the_recorder), before_(is_busy(the_user_stack) ? the_user_stack.ours : nullptr) {
    the_user_stack.ours = own_.frame();
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Busy() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    the_user_stack.ours = before_;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  OwnFrame own_;
  const CallFrame* before_;
};

[[gnu::cold, gnu::noinline]] bool grow(UserStack& stack) {
  constexpr std::uint64_t kFirst = 4096 / sizeof(UserStack::Entry);
  const std::uint64_t capacity = stack.capacity == 0 ? kFirst : stack.capacity * 2;
  const std::size_t before = stack.capacity * sizeof(UserStack::Entry);
  const std::size_t after = capacity * sizeof(UserStack::Entry);
  void* const memory =
      before == 0 ? mmap(nullptr, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : mremap(stack.entries, before, after, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return false;
  watch_thread_end();
  stack.entries = static_cast<UserStack::Entry*>(memory);
  stack.capacity = capacity;
  return true;
}

bool define_user_region(Recorder& r, RegionId id, const elg_region& region) {
  const std::size_t length = strlen(region.name);
  const std::size_t path = region.file == nullptr ? 0 : strlen(region.file);
  if (!make_room_for(r, string_room(length) + string_room(path) + 2 * kMaxRecord)) return false;
  const StringId name = define_string(r, region.name, length);
  auto file = absent<FileId>();
  if (path != 0) {
    const StringId text = define_string(r, region.file, path);
    file = static_cast<FileId>(raw(id));
    publish(r, put(r.cursor, File{file, text}));
  }
  const auto line =
      region.line > 0 ? Line{static_cast<std::uint32_t>(region.line)} : absent<Line>();
  publish(r,
          put(r.cursor, Region{id, name, file, line, absent<Line>(), absent<StringId>(), Byte{3}}));
  return true;
}

bool define_function(Recorder& r, RegionId id, const void* function) {
  auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(function));
  const Count module = define_module(r, address);
  if (!make_room_for(r, kMaxRecord)) return false;
  publish(r, put(r.cursor, LocalFunction{id, module, Count64{address}}));
  return true;
}

// No slot knows the region: what it is called in this file.
[[gnu::cold, gnu::noinline]] RegionId define(Recorder& r, std::uint64_t key, const void* what) {
  if (r.trace == nullptr && !make_room(r)) return kRejected;
  LocalTrace& trace = *r.trace;
  if (trace.code == nullptr) return kRejected;
  if (const std::uint32_t* known = trace.code->places.find(key)) {
    const auto id = static_cast<RegionId>(*known);
    r.codes[code_slot(key)] = {key, id};
    return id;
  }
  const bool function = (key & kUserKey) == 0;
  const bool wanted =
      function ? function_passes(what) : name_passes(static_cast<const elg_region*>(what)->name);
  RegionId id = kRejected;
  if (wanted && more_places(trace)) {
    id = new_place(trace);
    const bool good = function ? define_function(r, id, what)
                               : define_user_region(r, id, *static_cast<const elg_region*>(what));
    if (!good) return kRejected;
  }
  remember(r, key, id);
  return id;
}

// Inside of a call of MPI's, or of a signal handler that interrupted one. What a longjmp left
// behind is closed before what comes now.
bool inside_mpi(Recorder& r) {
  return r.frame != nullptr && !left_behind(r, __builtin_frame_address(0));
}

// Room for a record. May write what was entered and left before, if recording has just gone on.
bool has_room(Recorder& r) {
  if (r.cursor <= r.limit.load(std::memory_order_relaxed)) [[likely]]
    return true;
  return make_room(r);
}

// The time of a record: not before the newest one, which has_room() may have written.
Ticks not_before_last(const Recorder& r, Ticks at) {
  return static_cast<std::int64_t>(at - r.last) < 0 ? r.last : at;
}

void write_enter(Recorder& r, RegionId id, Ticks at) {
  r.last = not_before_last(r, at);
  publish(r, put(r.cursor, Enter{r.lid, to_seconds(r.last), id}));
}

void write_exit(Recorder& r, Ticks at) {
  r.last = not_before_last(r, at);
  publish(r, put(r.cursor, Exit{r.lid, to_seconds(r.last)}));
}

bool recording() {
  return the_session.functions.load(std::memory_order_relaxed) != 0;
}

void enter(std::uint64_t key, const void* what) {
  UserStack& stack = the_user_stack;
  Recorder& r = the_recorder;
  const bool now = recording() && !inside_mpi(r);
  const Busy busy;
  bool written = false;
  if (now) {
    const CodeSlot& slot = r.codes[code_slot(key)];
    const RegionId id = slot.key == key ? slot.id : define(r, key, what);
    // The filter's decision; otherwise recording has just been switched off.
    if (id == kRejected && slot.key == key) return;
    written = id != kRejected && has_room(r);
    if (stack.depth >= stack.capacity && !grow(stack)) return;
    if (written) write_enter(r, id, ticks());
  } else if (stack.depth >= stack.capacity && !grow(stack)) {
    return;
  }
  stack.entries[stack.depth++] = {key, what, written};
}

// Takes the innermost `count` regions off.
void leave(UserStack& stack, std::uint64_t count) {
  Recorder& r = the_recorder;
  const bool now = recording() && !inside_mpi(r);
  const Busy busy;
  const Ticks at = now ? ticks() : 0;
  while (count-- != 0) {
    if (!stack.entries[--stack.depth].written) continue;
    if (now && r.trace != nullptr && has_room(r)) {
      write_exit(r, at);
    } else {
      ++stack.exits_due;
    }
  }
}

// What was entered while nothing was recorded. Defining and making room may come here again, after
// one more pause, and leave less to do.
void enter_unwritten(Recorder& r) {
  UserStack& stack = the_user_stack;
  for (std::uint64_t i = 0; i < stack.depth; ++i) {
    UserStack::Entry& entry = stack.entries[i];
    if (entry.written) continue;
    const CodeSlot& slot = r.codes[code_slot(entry.key)];
    const RegionId id = slot.key == entry.key ? slot.id : define(r, entry.key, entry.what);
    if (id == kRejected) continue;
    if (!has_room(r)) return;
    if (entry.written) continue;
    entry.written = true;
    write_enter(r, id, r.last);
  }
}

}  // namespace

void enter_open_regions(Recorder& r) {
  const Busy busy;
  UserStack& stack = the_user_stack;
  stack.exits_due = 0;
  for (std::uint64_t i = 0; i < stack.depth; ++i) stack.entries[i].written = false;
  enter_unwritten(r);
}

void catch_up_regions(Recorder& r) {
  const Busy busy;
  UserStack& stack = the_user_stack;
  while (stack.exits_due != 0) {
    if (!has_room(r)) return;  // paused again: the next time
    if (stack.exits_due == 0) break;
    --stack.exits_due;
    write_exit(r, r.last);
  }
  enter_unwritten(r);
}

std::uint64_t exits_due(const UserStack& stack) {
  std::uint64_t exits = stack.exits_due;
  for (std::uint64_t i = 0; i < stack.depth; ++i) exits += stack.entries[i].written ? 1 : 0;
  return exits;
}

void drop_user_stack() {
  UserStack& stack = the_user_stack;
  if (stack.capacity != 0) munmap(stack.entries, stack.capacity * sizeof(UserStack::Entry));
  stack = {};
}

}  // namespace kojak::measure

using namespace kojak::measure;

#define KOJAK_EXPORTED extern "C" __attribute__((visibility("default"), used))

KOJAK_EXPORTED void elg_region_begin(const elg_region* region) {
  if (!is_busy(the_user_stack)) enter(key_of(region, kUserKey), region);
}

KOJAK_EXPORTED void elg_region_end(const char* name) {
  UserStack& stack = the_user_stack;
  if (is_busy(stack)) return;
  for (std::uint64_t i = stack.depth; i-- != 0;) {
    const UserStack::Entry& entry = stack.entries[i];
    if ((entry.key & kUserKey) == 0) continue;
    const char* const open = static_cast<const elg_region*>(entry.what)->name;
    if (open == name || strcmp(open, name) == 0) return leave(stack, stack.depth - i);
  }
}

namespace {
// Names that come to be while the program runs, and Fortran's: the text is what tells them apart.
const elg_region* interned(const char* text, std::size_t length, const char* file, int line) {
  const Busy busy;
  return named_region(text, length, file, line);
}
}  // namespace

KOJAK_EXPORTED const char* elg_region_begin_named(const char* name, const char* file, int line) {
  if (name == nullptr || is_busy(the_user_stack)) return nullptr;
  const elg_region* const region = interned(name, strlen(name), file, line);
  if (region == nullptr) return nullptr;
  enter(key_of(region, kUserKey), region);
  return region->name;
}

KOJAK_EXPORTED void __cyg_profile_func_enter(void* function, void*) {
  if (!is_busy(the_user_stack)) enter(key_of(function, kFunctionKey), function);
}

KOJAK_EXPORTED void __cyg_profile_func_exit(void* function, void*) {
  UserStack& stack = the_user_stack;
  if (stack.depth == 0 || is_busy(stack)) return;
  const std::uint64_t key = key_of(function, kFunctionKey);
  if (stack.entries[stack.depth - 1].key == key) return leave(stack, 1);
  const CodeSlot& slot = the_recorder.codes[code_slot(key)];
  if (slot.key == key && slot.id == kRejected) return;
  for (std::uint64_t i = stack.depth - 1; i-- != 0;) {
    if (stack.entries[i].key == key) return leave(stack, stack.depth - i);
  }
}

// Fortran: a name and its length, with blanks behind it.
namespace {
const elg_region* fortran_region(const char* text, std::size_t length) {
  if (is_busy(the_user_stack)) return nullptr;
  while (length != 0 && text[length - 1] == ' ') --length;
  return interned(text, length, nullptr, 0);
}
void fortran_begin(const char* text, std::size_t length) {
  if (const elg_region* region = fortran_region(text, length)) elg_region_begin(region);
}
void fortran_end(const char* text, std::size_t length) {
  if (const elg_region* region = fortran_region(text, length)) elg_region_end(region->name);
}
}  // namespace
#define KOJAK_SPELLING(name, does)                                 \
  KOJAK_EXPORTED void name(const char* text, std::size_t length) { \
    does(text, length);                                            \
  }
KOJAK_SPELLING(elg_user_start, fortran_begin)
KOJAK_SPELLING(elg_user_start_, fortran_begin)
KOJAK_SPELLING(elg_user_start__, fortran_begin)
KOJAK_SPELLING(elg_user_end, fortran_end)
KOJAK_SPELLING(elg_user_end_, fortran_end)
KOJAK_SPELLING(elg_user_end__, fortran_end)
#undef ELG_USER_START
#undef ELG_USER_END
KOJAK_SPELLING(ELG_USER_START, fortran_begin)
KOJAK_SPELLING(ELG_USER_END, fortran_end)

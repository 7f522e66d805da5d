#include "epilog/runtime/call_path.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unwind.h>

#include <algorithm>

#include "epilog/format/library_thread.h"
#include "epilog/runtime/libraries.h"
#include "epilog/runtime/library_code.h"
#include "epilog/runtime/python.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {
namespace {

_Unwind_Reason_Code (*unwind)(_Unwind_Trace_Fn, void*) = nullptr;
std::uintptr_t (*address_of)(_Unwind_Context*) = nullptr;
std::uintptr_t (*stack_of)(_Unwind_Context*) = nullptr;
void* (*function_around)(void*) = nullptr;

// Frames of our own lie between the call and us.
constexpr unsigned kMostOwnFrames = 16;

// OpenMP's library, whose constructs are regions: a path in one of them begins there.
CodeRange openmp_code;
bool calls_construct(std::uintptr_t address) {
  return openmp_code.holds(reinterpret_cast<const void*>(address));
}

// Within a call of MPI its function of the program begins the path of what that calls.
bool calls_back(std::uintptr_t address) {
  return the_recorder.outer_calls != 0 && is_library_code(reinterpret_cast<const void*>(address));
}

struct Walk {
  std::uintptr_t first;  // the return address of the call
  unsigned wanted;
  unsigned skipped;
  CallStack* stack;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const std::uintptr_t address = address_of(context);
  CallStack& stack = *walk.stack;
  if (stack.count == 0 && address != walk.first) {
    return ++walk.skipped < kMostOwnFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  if (address == 0 || (stack.count != 0 && calls_back(address))) return _URC_END_OF_STACK;
  stack.address[stack.count] = address;
  // Where the call that this frame waits for has put its return address.
  stack.place[stack.count] = reinterpret_cast<const std::uintptr_t*>(stack_of(context)) - 1;
  return ++stack.count < walk.wanted ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// The whole of a stack, of which the innermost frame and the outermost ones are kept.
struct LongWalk {
  std::uintptr_t first;
  unsigned skipped = 0;
  unsigned total = 0;
  CallStack* stack;
};
constexpr unsigned kRing = kMostFrames - 1;
constexpr unsigned kMostWalked = 2048;
unsigned place_of(unsigned frame) {
  return frame == 0 ? 0 : 1 + (frame - 1) % kRing;
}

_Unwind_Reason_Code step_outwards(_Unwind_Context* context, void* data) {
  LongWalk& walk = *static_cast<LongWalk*>(data);
  const std::uintptr_t address = address_of(context);
  if (walk.total == 0 && address != walk.first) {
    return ++walk.skipped < kMostOwnFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  const bool begins = calls_construct(address) || calls_back(address);
  if (address == 0 || (walk.total != 0 && begins)) return _URC_END_OF_STACK;
  const unsigned place = place_of(walk.total);
  walk.stack->address[place] = address;
  walk.stack->place[place] = reinterpret_cast<const std::uintptr_t*>(stack_of(context)) - 1;
  return ++walk.total < kMostWalked ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// Code that calls main, or the function that a thread begins with.
struct Beginning {
  CodeRange libc, start;
  bool holds(std::uintptr_t address) const {
    const auto* const p = reinterpret_cast<const void*>(address);
    return libc.holds(p) || start.holds(p);
  }
};
Beginning beginning;

void find_beginning() {
  const std::uintptr_t entry = getauxval(AT_ENTRY);
  constexpr std::uintptr_t kStartSize = 64;  // of _start, which calls the C library
  beginning.start = {entry, entry + kStartSize};
  const void* const libc = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  if (libc != nullptr) beginning.libc = code_around(libc);
  // Linked into the program, it cannot be told from it.
  if (beginning.libc.holds(reinterpret_cast<const void*>(entry))) beginning.libc = {};
}

// The call and its outermost callers, `wanted` in all, innermost first. True if there were others
// between.
bool follow_path(const void* caller, unsigned wanted, CallStack& stack) {
  CallStack seen;
  LongWalk walk{.first = reinterpret_cast<std::uintptr_t>(caller), .stack = &seen};
  unwind(step_outwards, &walk);
  unsigned total = walk.total;
  stack.count = 0;
  const auto keep = [&](unsigned frame) {
    const unsigned place = place_of(frame);
    stack.address[stack.count] = seen.address[place];
    stack.place[stack.count++] = seen.place[place];
  };
  if (total == 0) return false;
  keep(0);
  if (total == kMostWalked) return true;  // where it begins is not known
  for (unsigned i = 0; i < kRing - kMostCallers && total > 1; ++i, --total) {
    if (!beginning.holds(seen.address[place_of(total - 1)])) break;
  }
  const unsigned outer = std::min(wanted, total) - 1;
  for (unsigned frame = total - outer; frame < total; ++frame) keep(frame);
  return total > wanted;
}

void follow(const void* caller, unsigned wanted, CallStack& stack) {
  stack.count = 0;
  Walk walk{reinterpret_cast<std::uintptr_t>(caller), wanted, 0, &stack};
  unwind(step, &walk);
}

// Remembers the innermost `count` places of a stack; none if they are too many.
void remember_stack(PathSlot& slot, const CallStack& stack, unsigned count) {
  slot.key = 0;
  slot.count = count <= kMostCallers ? count : 0;
  for (unsigned i = 0; i < slot.count; ++i) {
    slot.address[i] = stack.address[i];
    slot.place[i] = stack.place[i];
  }
}
// From now on a call with this key and frame is known by them.
void arm([[maybe_unused]] PathSlot& slot, [[maybe_unused]] std::uint64_t key,
         [[maybe_unused]] const void* frame) {
#if defined(__x86_64__)
  if (slot.count != 0 && holds(slot)) {
    slot.key = key;
    slot.frame = frame;
  }
#endif
}

Count define_frame(Recorder& r, std::uintptr_t return_address, Count caller) {
  CodeTable& code = *r.trace->code;
  const std::uint64_t key = mix(mix(return_address) + raw(caller));
  if (const std::uint32_t* known = code.frames.find(key)) return Count{*known};
  if (code.frames.size() >= kMostPlaces) return absent<Count>();
  std::uint64_t address = return_address;
  const Count module = define_module(r, address);
  if (!make_room_for(r, kMaxRecord)) return absent<Count>();
  const Count frame{code.next_frame++};
  publish(r, put(r, r.cursor, LocalFrame{frame, module, Count64{address}, caller}));
  code.frames.set(key, raw(frame));
  return frame;
}

// In a slot: what calls the library there is a line of Python.
constexpr auto kPythonKnows = static_cast<RegionId>(kAbsent - 1);

// The first address of the function that a return address lies in, as one behind a call: it stands
// for all places in the function.
const void* function_of(std::uintptr_t address) {
  if (function_around != nullptr) {
    void* const begin = function_around(reinterpret_cast<void*>(address - 1));
    if (begin != nullptr) return static_cast<const char*>(begin) + 1;
  }
  return reinterpret_cast<const void*>(address);
}

// The function of a library that extension modules of Python called, which say less than it does;
// null if there is nothing but these.
const void* behind_extensions(const CallStack& stack, unsigned program) {
  unsigned i = program;
  while (i != 0 && is_extension(reinterpret_cast<const void*>(stack.address[i - 1]))) --i;
  return i != 0 ? function_of(stack.address[i - 1]) : nullptr;
}

// The site of a call in a library's function that was called by a frame.
RegionId add_library_site(Recorder& r, unsigned function, const void* entry, Count called_by) {
  CodeTable& code = *r.trace->code;
  const std::uint64_t path =
      mix(mix(reinterpret_cast<std::uintptr_t>(entry) + function) + raw(called_by) + 1) |
      std::uint64_t{1} << 63;
  const std::uint32_t* const known = code.places.find(path);
  return known != nullptr ? static_cast<RegionId>(*known)
                          : add_site(r, region_of(function), path, entry, called_by);
}

// All calls of a thread lie within it that are the inside of a library whose own are recorded.
thread_local constinit CallFrame within_library __attribute__((tls_model("initial-exec"))) = {};

// Tells once that a library has started this thread. The merge looks whether all of its calls came
// from there; but where a front records the calls of the library, those of MPI below them are its
// inside, and so are this thread's, from this one on.
void note_library_thread(Recorder& r) {
  CodeTable& code = *r.trace->code;
  constexpr std::size_t kRoom = 2 * string_room(kMostText) + kMaxRecord;
  if (code.library_thread || !make_room_for(r, kRoom)) return;
  code.library_thread = true;
  if (the_session.armci_functions == nullptr || r.outer_calls != 0) {
    return define_property(r, run_property::kLibraryThread, "yes");
  }
  define_time_property(r, run_property::kLibraryThread, r.last);
  within_library.mark = &within_library;
  within_library.entry = kNoStack;
  within_library.in_call = within_library.sealed = true;
  r.outer[0] = &within_library;
  r.outer_calls = 1;
}

// What stands in a path for the functions that were left out.
Count define_cut(Recorder& r, Count caller) {
  CodeTable& code = *r.trace->code;
  const std::uint64_t key = mix(mix(1) + raw(caller));  // (no return address is 1)
  if (const std::uint32_t* known = code.frames.find(key)) return Count{*known};
  if (code.frames.size() >= kMostPlaces || !make_room_for(r, kMaxRecord)) return absent<Count>();
  const Count frame{code.next_frame++};
  publish(r, put(r, r.cursor, LocalCut{frame, caller}));
  code.frames.set(key, raw(frame));
  return frame;
}

}  // namespace

bool is_within_library(const Recorder& r) {
  return r.frame == &within_library || (r.outer_calls != 0 && r.outer[0] == &within_library);
}

void leave_library_thread(Recorder& r) {
  if (r.frame == &within_library) leave_innermost(r);
}

void begin_paths_behind(const void* openmp) {
  openmp_code = code_around(openmp);
  // Linked into the program, it cannot be told from it.
  if (calls_construct(getauxval(AT_ENTRY))) openmp_code = {};
}

bool prepare_call_paths() {
  if (unwind != nullptr) return true;
  void* const library = dlopen("libgcc_s.so.1", RTLD_LAZY);
  if (library == nullptr) return false;
  find_beginning();
  address_of =
      reinterpret_cast<std::uintptr_t (*)(_Unwind_Context*)>(dlsym(library, "_Unwind_GetIP"));
  stack_of =
      reinterpret_cast<std::uintptr_t (*)(_Unwind_Context*)>(dlsym(library, "_Unwind_GetCFA"));
  function_around =
      reinterpret_cast<void* (*)(void*)>(dlsym(library, "_Unwind_FindEnclosingFunction"));
  unwind = reinterpret_cast<_Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*)>(
      dlsym(library, "_Unwind_Backtrace"));
  if (address_of == nullptr || stack_of == nullptr) unwind = nullptr;
  return unwind != nullptr;
}

RegionId define_path(Recorder& r, unsigned function, std::uint64_t key, const void* caller,
                     const void* frame) {
  CodeTable& code = *r.trace->code;
  PathSlot& slot = code.paths[path_slot(key, frame)];
  CallStack stack;
  const bool cut = follow_path(caller, the_session.config.call_path, stack);
  remember_stack(slot, stack, stack.count);
  Count called_by = absent<Count>();
  std::uint64_t path = key;
  for (std::uint32_t i = slot.count; i-- > 1;) {
    called_by = define_frame(r, slot.address[i], called_by);
    path = mix(path + raw(called_by) + 1) | std::uint64_t{1} << 63;
  }
  if (cut) {
    called_by = define_cut(r, called_by);
    path = mix(path + raw(called_by) + 1) | std::uint64_t{1} << 63;
  }
  const std::uint32_t* const known = code.places.find(path);
  slot.region = known != nullptr ? static_cast<RegionId>(*known)
                                 : add_site(r, region_of(function), path, caller, called_by);
  arm(slot, key, frame);
  return slot.region;
}

namespace {

bool follows_interrupted = false;

struct InterruptedWalk {
  std::uintptr_t place;
  std::uintptr_t* address;
  unsigned count = 0;
  unsigned skipped = 0;
  bool more = false;
};

_Unwind_Reason_Code step_interrupted(_Unwind_Context* context, void* data) {
  InterruptedWalk& walk = *static_cast<InterruptedWalk*>(data);
  const std::uintptr_t address = address_of(context);
  if (walk.count == 0 && address != walk.place) {
    return ++walk.skipped < kMostOwnFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.count == kMostCallers) {
    walk.more = true;
    return _URC_END_OF_STACK;
  }
  walk.address[walk.count++] = address;
  return _URC_NO_REASON;
}

struct FrameSearch {
  std::uintptr_t end;
  OnStack found = OnStack::kUnknown;
  unsigned walked = 0;
};

_Unwind_Reason_Code step_to_frame(_Unwind_Context* context, void* data) {
  FrameSearch& search = *static_cast<FrameSearch*>(data);
  const std::uintptr_t end = stack_of(context);
  if (end >= search.end) {
    search.found = end == search.end ? OnStack::kYes : OnStack::kNo;
    return _URC_END_OF_STACK;
  }
  return ++search.walked < kMostWalked ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

bool prepare_interrupted_paths() {
  follows_interrupted = follows_interrupted ||
                        (dlsym(RTLD_DEFAULT, "_dl_find_object") != nullptr && prepare_call_paths());
  return follows_interrupted;
}

OnStack find_on_stack(const void* end) {
  if (!follows_interrupted) return OnStack::kUnknown;
  FrameSearch search{.end = reinterpret_cast<std::uintptr_t>(end)};
  unwind(step_to_frame, &search);
  return search.found;
}

unsigned interrupted_path(std::uintptr_t place, std::uintptr_t* addresses, bool& more) {
  InterruptedWalk walk{.place = place, .address = addresses};
  if (follows_interrupted) unwind(step_interrupted, &walk);
  more = walk.more;
  addresses[0] = place;
  if (walk.count == 0) return 1;
  while (!more && walk.count > 1 && beginning.holds(addresses[walk.count - 1])) --walk.count;
  return walk.count;
}

RegionId define_sampled(Recorder& r, RegionId region, std::span<const std::uintptr_t> path,
                        bool more) {
  if (r.trace->code == nullptr) return absent<RegionId>();
  Count called_by = more ? define_cut(r, absent<Count>()) : absent<Count>();
  for (std::size_t i = path.size(); i-- > 1;) called_by = define_frame(r, path[i], called_by);
  // A return address is behind its call.
  const std::uintptr_t behind = path[0] + 1;
  const std::uint64_t key =
      mix(mix(mix(behind) + raw(region)) + raw(called_by) + 2) | std::uint64_t{1} << 63;
  if (const std::uint32_t* known = r.trace->code->places.find(key)) {
    return static_cast<RegionId>(*known);
  }
  if (!more_places(*r.trace)) return absent<RegionId>();
  const RegionId site = add_site(r, region, key, reinterpret_cast<const void*>(behind), called_by);
  return site == region ? absent<RegionId>() : site;
}

RegionId known_library_site(Recorder& r, unsigned function, std::uint64_t key, const void* frame) {
  const PathSlot* const slot = known_path(r.trace->code->library_paths, key, frame);
  if (slot == nullptr) return absent<RegionId>();
  return slot->region != kPythonKnows ? slot->region : define_python_site(r, function, slot->entry);
}

RegionId define_library_site(Recorder& r, unsigned function, std::uint64_t key, const void* caller,
                             const void* frame) {
  CodeTable& code = *r.trace->code;
  if (code.library_paths == nullptr) {
    code.library_paths = static_cast<PathSlot*>(allocate(sizeof(PathSlot) * kPathSlots));
    if (code.library_paths == nullptr || !prepare_call_paths()) return absent<RegionId>();
  }
  if (unwind == nullptr) return absent<RegionId>();
  PathSlot& slot = code.library_paths[path_slot(key, frame)];
  const RegionId known = known_library_site(r, function, key, frame);
  if (known != absent<RegionId>()) return known;

  CallStack stack;
  follow(caller, kMostFrames, stack);
  LibraryEntry library = library_entry(stack);
  const unsigned program = library.program;
  if (program == 0) return absent<RegionId>();
  if (r.trace->thread != 0) {
    if (const std::uintptr_t start = library_thread(stack, program); start != 0) {
      library.function = start;
      note_library_thread(r);
      if (is_within_library(r)) return absent<RegionId>();
    }
  }
  remember_stack(slot, stack, program + 1);
  if (is_extension(reinterpret_cast<const void*>(stack.address[program - 1]))) {
    slot.entry = behind_extensions(stack, program);
    const RegionId site = define_python_site(r, function, slot.entry);
    if (site != absent<RegionId>()) {
      slot.region = kPythonKnows;
      arm(slot, key, frame);
      return site;
    }
  }
  // One more than where a function begins stands for it.
  const void* const entry = library.function != 0
                                ? reinterpret_cast<const void*>(library.function + 1)
                                : function_of(stack.address[program - 1]);
  slot.region = add_library_site(r, function, entry,
                                 define_frame(r, stack.address[program], absent<Count>()));
  arm(slot, key, frame);
  return slot.region;
}

}  // namespace kojak::measure

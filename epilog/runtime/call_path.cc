#include "epilog/runtime/call_path.h"

#include <dlfcn.h>
#include <unwind.h>

namespace kojak::measure {
namespace {

_Unwind_Reason_Code (*unwind)(_Unwind_Trace_Fn, void*) = nullptr;
std::uintptr_t (*address_of)(_Unwind_Context*) = nullptr;
std::uintptr_t (*stack_of)(_Unwind_Context*) = nullptr;

struct Walk {
  std::uintptr_t first;  // the return address of the call
  unsigned wanted;
  unsigned skipped = 0;
  PathSlot* slot;
};

// Frames of our own lie between the call and us.
constexpr unsigned kMostOwnFrames = 16;

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  const std::uintptr_t address = address_of(context);
  PathSlot& slot = *walk.slot;
  if (slot.count == 0 && address != walk.first) {
    return ++walk.skipped < kMostOwnFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
  }
  if (address == 0) return _URC_END_OF_STACK;
  slot.address[slot.count] = address;
  // Where the call that this frame waits for has put its return address.
  slot.place[slot.count] = reinterpret_cast<const std::uintptr_t*>(stack_of(context)) - 1;
  return ++slot.count < walk.wanted ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// Whether the slot's stack places hold its addresses. That they may be read follows from the frame:
// it is the same, and they lie above it.
bool holds(const PathSlot& slot) {
  for (std::uint32_t i = 0; i < slot.count; ++i) {
    if (*slot.place[i] != slot.address[i]) return false;
  }
  return true;
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
  publish(r, put(r.cursor, LocalFrame{frame, module, Count64{address}, caller}));
  code.frames.set(key, raw(frame));
  return frame;
}

}  // namespace

bool prepare_call_paths() {
  if (unwind != nullptr) return true;
  void* const library = dlopen("libgcc_s.so.1", RTLD_LAZY);
  if (library == nullptr) return false;
  address_of =
      reinterpret_cast<std::uintptr_t (*)(_Unwind_Context*)>(dlsym(library, "_Unwind_GetIP"));
  stack_of =
      reinterpret_cast<std::uintptr_t (*)(_Unwind_Context*)>(dlsym(library, "_Unwind_GetCFA"));
  unwind = reinterpret_cast<_Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*)>(
      dlsym(library, "_Unwind_Backtrace"));
  if (address_of == nullptr || stack_of == nullptr) unwind = nullptr;
  return unwind != nullptr;
}

RegionId define_path(Recorder& r, unsigned function, std::uint64_t key, const void* caller,
                     const void* frame) {
  CodeTable& code = *r.trace->code;
  const std::uint64_t both = mix(key ^ reinterpret_cast<std::uintptr_t>(frame));
  PathSlot& slot = code.paths[both % kPathSlots];
  if (slot.key == key && slot.frame == frame && holds(slot)) return slot.region;

  slot.key = 0;
  slot.count = 0;
  const auto first = reinterpret_cast<std::uintptr_t>(caller);
  Walk walk{first, the_session.config.call_path, 0, &slot};
  unwind(step, &walk);
  Count called_by = absent<Count>();
  std::uint64_t path = key;
  for (std::uint32_t i = slot.count; i-- > 1;) {
    called_by = define_frame(r, slot.address[i], called_by);
    path = mix(path + raw(called_by) + 1) | std::uint64_t{1} << 63;
  }
  const std::uint32_t* const known = code.places.find(path);
  slot.region = known != nullptr ? static_cast<RegionId>(*known)
                                 : add_site(r, region_of(function), path, caller, called_by);
#if defined(__x86_64__)
  if (slot.count != 0 && holds(slot)) {
    slot.key = key;
    slot.frame = frame;
  }
#endif
  return slot.region;
}

}  // namespace kojak::measure

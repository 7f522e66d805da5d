#include "earl/sequence/symmetric_memory.h"

namespace kojak::earl::sequence {

SymmetricMemory::SymmetricMemory(const Trace& trace)
    : trace_(&trace), places_(trace.location_count()), writes_(trace.process_count()) {
  constexpr std::uint32_t kMost = 1 << 20;  // numbers of regions, in a sound trace
  trace.definitions().regions.for_each([&](RegionId id, const RegionDef& region) {
    any_ = any_ || region.name.starts_with("shmem_");
    if (!awaits_variable(region) || raw(id) >= kMost) return;
    if (awaits_.size() <= raw(id)) awaits_.resize(raw(id) + 1);
    awaits_[raw(id)] = true;
  });
}

bool SymmetricMemory::awaits(RegionId region) const {
  return raw(region) < awaits_.size() && awaits_[raw(region)];
}

void SymmetricMemory::find_place(const Event& e, const Place& place) {
  const bool its = e.rmaid == place.rmaid || raw(e.rmaid) == raw(place.rmaid) + 1;
  if (its && place.enter == e.enterptr) placeptr_ = place.pos;
}

void SymmetricMemory::follow(const Event& e) {
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) return;
  const ProcessId process = trace_->process(i);
  if (is_enter(e.type)) {
    if (awaits(e.reg)) writes_.enter(process);
  } else if (is_exit(e.type)) {
    if (awaits(e.reg)) writes_.leave(process);
  } else if (e.type == EventType::kShmemPlace) {
    places_[i] = {e.pos, e.enterptr, e.offset, e.rmaid};
  } else if (is_get_origin(e.type) && is_absent(e.win)) {
    find_place(e, places_[i]);
  } else if (e.type == EventType::kPut1ts) {
    find_place(e, places_[i]);
    const std::uint32_t there = trace_->index(static_cast<LocationId>(raw(e.peer)));
    if (placeptr_ == kNoEvent || there == kAbsent) return;
    const ProcessId target = trace_->process(there);
    if (places_[i].offset != SymmetricPlace::kUnknown && writes_.followed(target)) {
      writes_.issue(target, {places_[i].offset, raw(e.sent), e.pos, {}});
    }
  } else if (e.type == EventType::kShmemWait) {
    const SymmetricWrite* const write = writes_.last(process, e.offset, raw(e.sent));
    if (write != nullptr) writeptr_ = write->pos;
  }
}

}  // namespace kojak::earl::sequence

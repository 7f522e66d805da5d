#include "earl/index/shmem_waits.h"

#include <algorithm>

namespace kojak::earl::sequence {

ShmemWaits::Kind ShmemWaits::kind_of(RegionId id) const {
  const ShmemFunction* const f = trace_->definitions().shmem(id);
  if (f == nullptr) return Kind::kNothing;
  if (f->role == ShmemRole::kSetLock) return Kind::kLock;
  return waits_for_variable(f->role) ? Kind::kVariable : Kind::kNothing;
}

void ShmemWaits::learn_regions() {
  constexpr std::uint32_t kMost = 1 << 20;  // numbers of regions, in a sound trace
  learned_ = true;
  trace_->definitions().regions.for_each([&](RegionId id, const RegionDef&) {
    const Kind kind = kind_of(id);
    if (kind == Kind::kNothing || raw(id) >= kMost) return;
    if (kinds_.size() <= raw(id)) kinds_.resize(raw(id) + 1);
    kinds_[raw(id)] = kind;
    any_ = true;
  });
}

ShmemWaits::Open& ShmemWaits::begin(const Event& enter, Kind kind) {
  ShmemWait wait;
  wait.enter = enter.pos;
  wait.location = enter.loc;
  wait.for_lock = kind == Kind::kLock;
  return open_.emplace(raw(enter.loc), Open{std::move(wait)}).first->second;
}

void ShmemWaits::Open::tell(const Event& e) {
  if (wait.for_lock) {
    wait.lock = e.type == EventType::kALock ? e.lock : static_cast<LockId>(e.count[0]);
  } else if (e.type == EventType::kShmemWait) {
    wait.variables.push_back(
        {e.pos, e.offset, static_cast<std::uint32_t>(raw(e.sent)), e.code, e.count[0], nullptr});
  } else {
    wait.variables.push_back({e.pos, e.count[0]});
  }
  told.push_back(e.pos);
}

void ShmemWaits::follow(const Event& e) {
  if (is_enter(e.type)) {
    const Kind kind = raw(e.reg) < kinds_.size() ? kinds_[raw(e.reg)] : Kind::kNothing;
    if (kind != Kind::kNothing && trace_->index(e.loc) != kAbsent) begin(e, kind);
    return;
  }
  if (open_.empty()) return;
  const auto found = open_.find(raw(e.loc));
  if (found == open_.end()) return;
  Open& open = found->second;
  const bool its = e.enterptr == open.wait.enter;  // not what is nested in the call
  if (!its) return;
  if (is_exit(e.type)) return end(raw(e.loc), e.pos);
  switch (e.type) {
    case EventType::kALock:
      if (!open.wait.for_lock) return;
      open.tell(e);
      return end(raw(e.loc), e.pos);
    case EventType::kShmemWait:
      if (!open.wait.for_lock) open.tell(e);
      return;
    case EventType::kMpiOpenCall:
      return open.tell(e);
    default:
      return;
  }
}

void ShmemWaits::end(std::uint32_t location, std::uint64_t pos) {
  const auto found = open_.find(location);
  log(found->second, pos);
  open_.erase(found);
}

void ShmemWaits::log(const Open& open, std::uint64_t end) {
  if (log_ == nullptr) return;
  contents_.clear();
  {
    NumberWriter out(contents_);
    std::uint64_t before = open.wait.enter;
    for (const std::uint64_t told : open.told) {
      out.number(told - before);
      before = told;
    }
  }
  log_->add(open.wait.enter, end, contents_);
}

void ShmemWaits::end_record(std::uint64_t end) {
  for (const auto& [location, open] : open_) log(open, end);
}

std::vector<ShmemWait> ShmemWaits::waits() const {
  std::vector<ShmemWait> result;
  for (const auto& [location, open] : open_) result.push_back(open.wait);
  std::sort(result.begin(), result.end(),
            [](const ShmemWait& a, const ShmemWait& b) { return a.enter < b.enter; });
  return result;
}

std::vector<ShmemWait> ShmemWaits::lock_waiters(LockId lock) const {
  std::vector<ShmemWait> result = waits();
  std::erase_if(result, [&](const ShmemWait& w) { return !w.for_lock || w.lock != lock; });
  return result;
}

}  // namespace kojak::earl::sequence

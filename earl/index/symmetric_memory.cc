#include "earl/index/symmetric_memory.h"

#include <algorithm>

#include "epilog/model/shmem_completion.h"

namespace kojak::earl::sequence {

SymmetricMemory::SymmetricMemory(const Trace& trace)
    : trace_(&trace),
      places_(trace.location_count()),
      queues_(trace.process_count()),
      series_(trace.location_count()),
      writes_(trace.process_count(), trace.location_count()) {
  constexpr std::uint32_t kMost = 1 << 20;  // numbers of regions, in a sound trace
  trace.definitions().regions.for_each([&](RegionId id, const RegionDef& region) {
    any_ = any_ || region.shmem != nullptr || region.name.starts_with("shmem_");
    const auto note = [&](std::vector<bool>& regions, bool is) {
      if (!is || raw(id) >= kMost) return;
      if (regions.size() <= raw(id)) regions.resize(raw(id) + 1);
      regions[raw(id)] = true;
    };
    note(awaits_, asks_for_variable(region.shmem_role()));
    note(quiets_, model::may_quiet(region.shmem_role()));
  });
}

bool SymmetricMemory::awaits(RegionId region) const {
  return raw(region) < awaits_.size() && awaits_[raw(region)];
}

bool SymmetricMemory::quiets(RegionId region) const {
  return raw(region) < quiets_.size() && quiets_[raw(region)];
}

void SymmetricMemory::find_place(const Event& e, const Place& place) {
  const bool its = e.rmaid == place.rmaid || raw(e.rmaid) == raw(place.rmaid) + 1;
  if (its && place.enter == e.enterptr) placeptr_ = place.pos;
}

void SymmetricMemory::issue(const Event& e, ProcessId process, const Place& place) {
  const bool placed = placeptr_ != kNoEvent;
  const bool put = e.type == EventType::kPut1ts;
  const bool non_blocking = placed && (place.flags & kPlaceNonBlocking) != 0;
  const bool with_result = placed && place.got && e.rmaid != place.rmaid;
  const std::uint32_t context = placed ? place.context : 0;
  Queue& queue = queues_[raw(process)];
  if (model::complete_when_quiet(put, non_blocking, with_result)) {
    queue.until_quiet[context].push_back(
        {e.pos, trace_->index(e.loc), static_cast<LocationId>(raw(e.peer)), !put});
  } else {
    queue.in_call.push_back({e.pos, e.rmaid, context});
  }
}

void SymmetricMemory::end(const Event& e, LocationId origin) {
  const std::uint32_t i = trace_->index(origin);
  if (i == kAbsent) return;
  std::vector<Operation>& open = queues_[raw(trace_->process(i))].in_call;
  const auto it = std::find_if(open.begin(), open.end(),
                               [&](const Operation& o) { return o.rmaid == e.rmaid; });
  if (it == open.end()) return;
  if (log_ != nullptr) log_->add(it->pos, e.pos);
  open.erase(it);
}

void SymmetricMemory::quiet(const Event& e, std::uint32_t location, ProcessId process) {
  auto& contexts = queues_[raw(process)].until_quiet;
  const std::uint64_t begun = quiets(e.reg) ? e.enterptr : e.pos;
  const auto complete = [&](std::vector<Issued>& operations) {
    std::erase_if(operations, [&](const Issued& o) {
      const bool meant = (o.get ? (e.completes & kQuietPuts) : (e.completes & kQuietLocal)) == 0 &&
                         (is_absent(e.peer) || raw(o.target) == raw(e.peer));
      const bool due = meant && (o.pos < begun || o.location == location);
      if (due && log_ != nullptr) log_->add(o.pos, e.pos);
      return due;
    });
    return operations.empty();
  };
  if (e.context == kAbsent) {
    for (auto context = contexts.begin(); context != contexts.end();) {
      context = complete(context->second) ? contexts.erase(context) : std::next(context);
    }
  } else if (const auto found = contexts.find(e.context); found != contexts.end()) {
    if (complete(found->second)) contexts.erase(found);
  }
}

std::vector<std::uint64_t> SymmetricMemory::queue(ProcessId process, std::uint32_t context) const {
  std::vector<std::uint64_t> result;
  if (raw(process) >= queues_.size()) return result;
  const Queue& queue = queues_[raw(process)];
  for (const auto& [id, operations] : queue.until_quiet) {
    if (context != kAbsent && id != context) continue;
    for (const Issued& o : operations) result.push_back(o.pos);
  }
  for (const Operation& o : queue.in_call) {
    if (context == kAbsent || o.context == context) result.push_back(o.pos);
  }
  std::sort(result.begin(), result.end());
  return result;
}

void SymmetricMemory::end_record(std::uint64_t end) {
  for (const Queue& queue : queues_) {
    for (const auto& [context, operations] : queue.until_quiet) {
      for (const Issued& o : operations) log_->add(o.pos, end);
    }
    for (const Operation& o : queue.in_call) log_->add(o.pos, end);
  }
}

void SymmetricMemory::restore(const Event& issued, std::uint32_t context) {
  const std::uint32_t i = trace_->index(issued.loc);
  if (i == kAbsent) return;
  queues_[raw(trace_->process(i))].until_quiet[context].push_back(
      {issued.pos, i, static_cast<LocationId>(raw(issued.peer)), is_get_origin(issued.type)});
}

std::uint64_t SymmetricMemory::waits_since(const Event& e, std::uint32_t location) const {
  if (e.enterptr == kNoEvent) return 0;
  return series_[location].goes_on ? std::min(writes_.begun(location), e.enterptr) : e.enterptr;
}

void SymmetricMemory::follow(const Event& e) {
  const std::uint32_t i = trace_->index(e.loc);
  if (i == kAbsent) return;
  const ProcessId process = trace_->process(i);
  if (is_enter(e.type)) {
    if (!awaits(e.reg)) return;
    writes_.enter(process, i);
    series_[i] = {};
  } else if (is_exit(e.type)) {
    if (!awaits(e.reg)) return;
    if (series_[i].alone) {
      writes_.leave_part(i, waits_since(e, i));
    } else {
      writes_.leave(process);
    }
  } else if (e.type == EventType::kMpiPolled) {
    series_[i] = {(e.count[2] & kPollGoesOn) != 0, (e.count[2] & kPollAlone) != 0};
  } else if (e.type == EventType::kShmemPlace) {
    places_[i] = {e.pos, e.enterptr, e.offset, e.rmaid, e.context, e.code};
  } else if (e.type == EventType::kShmemQuiet) {
    quiet(e, i, process);
    writes_.end_stretch(process, i);
  } else if (e.type == EventType::kPut1te) {
    end(e, static_cast<LocationId>(raw(e.peer)));
  } else if (e.type == EventType::kGet1te) {
    end(e, e.loc);
  } else if (is_get_origin(e.type) && is_absent(e.win)) {
    find_place(e, places_[i]);
    issue(e, process, places_[i]);
    places_[i].got = placeptr_ != kNoEvent;
  } else if (e.type == EventType::kPut1ts) {
    find_place(e, places_[i]);
    issue(e, process, places_[i]);
    const std::uint32_t there = trace_->index(static_cast<LocationId>(raw(e.peer)));
    if (placeptr_ == kNoEvent || there == kAbsent) return;
    const ProcessId target = trace_->process(there);
    if (places_[i].offset != SymmetricPlace::kUnknown && writes_.followed(target)) {
      writes_.issue(target, {places_[i].offset, raw(e.sent), e.pos, {}});
    }
  } else if (e.type == EventType::kShmemWait) {
    const SymmetricWrite* const write =
        writes_.last(process, e.offset, raw(e.sent), waits_since(e, i));
    if (write != nullptr) writeptr_ = write->pos;
  }
}

}  // namespace kojak::earl::sequence

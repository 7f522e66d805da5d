#include "expert/omp_teams.h"

namespace kojak::expert {

OmpTeams::OmpTeams(const earl::Trace& trace, Barrier barrier)
    : barrier_(std::move(barrier)),
      processes_(trace.process_count()),
      master_(trace.location_count()),
      barriers_(trace.location_count()),
      depth_(trace.location_count()) {
  trace.definitions().regions.for_each([&](RegionId id, const RegionDef& region) {
    if (!is_omp(region.type)) return;
    types_.set(id, region.type);
    parallel_ = parallel_ || region.type == kOmpParallel;
  });
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    const ProcessId process = trace.process(i);
    master_[i] = trace.main_index(process) == i;
    if (!master_[i]) processes_[raw(process)].others.push_back(i);
  }
}

bool OmpTeams::concerns(const Definitions& definitions) {
  bool any = false;
  definitions.regions.for_each([&](RegionId, const RegionDef& region) {
    any = any || is_omp(region.type) || region_class(region) == TimeClass::kOmpLockApi;
  });
  return any;
}

void OmpTeams::on_enter(const earl::OpenCall& call) {
  if (type(call.region) != kOmpParallel) return;
  Process& p = processes_[raw(call.process)];
  if (master_[call.index]) ++p.parallel;
  if (++depth_[call.index] > 1) return;  // most often a team of this thread alone
  if (barriers_[call.index] < p.first) barriers_[call.index] = p.first;
  ++p.team;
}

void OmpTeams::on_call(const Call& call) {
  Process& p = processes_[raw(call.process)];
  const std::uint8_t t = type(call.region);
  if (p.forked && master_[call.index]) {
    p.nested += call.exclusive;
    if (call.cnode == p.caller) p.forked = false;  // left without a parallel region
  }
  if (t == kOmpParallel && depth_[call.index] != 0) --depth_[call.index];
  if (t == kOmpParallel && master_[call.index] && p.parallel != 0) --p.parallel;
  if (t == kOmpBarrier || t == kOmpImplicitBarrier) {
    if (depth_[call.index] > 1) return;
    const std::uint64_t n = barriers_[call.index]++;
    if (n < p.first) return;  // closed without this thread
    const std::size_t i = n - p.first;
    if (i >= p.barriers.size()) p.barriers.resize(i + 1);
    p.barriers[i].push_back(call);
    while (!p.barriers.empty() && p.barriers.front().size() >= p.team && p.team != 0) {
      barrier_(p.barriers.front());
      p.barriers.pop_front();
      ++p.first;
    }
  } else if (parallel_ && master_[call.index] && p.parallel == 0 && t != kOmpParallel &&
             !p.others.empty()) {
    if (raw(call.cnode) >= alone_.size()) alone_.resize(raw(call.cnode) + 1);
    std::vector<double>& row = alone_[raw(call.cnode)];
    if (row.empty()) row.resize(processes_.size());
    row[raw(call.process)] += std::max(0.0, call.exclusive.value);
  }
}

void OmpTeams::on_fork(const earl::OpenCall& call, Seconds time) {
  Process& p = processes_[raw(call.process)];
  if (p.parallel != 0) return;  // a nested team: its barriers cannot be told apart
  close(p);
  p.forked = call.function == nullptr;
  p.fork = time;
  p.nested = {};
  p.caller = call.cnode;
}

void OmpTeams::on_join(const earl::OpenCall& call) {
  Process& p = processes_[raw(call.process)];
  p.forked =
      false;  // its threads may leave their last barrier later: the next FORK closes the team
}

void OmpTeams::close(Process& p) {
  for (const std::vector<Call>& members : p.barriers) {
    if (!members.empty()) barrier_(members);
  }
  p.first += p.barriers.size();
  p.barriers.clear();
  p.team = 0;
}

void OmpTeams::on_end() {
  for (Process& p : processes_) close(p);
}

bool OmpTeams::take_fork(const earl::OpenCall& parallel, Seconds& fork, CallPathId& caller) {
  Process& p = processes_[raw(parallel.process)];
  if (!p.forked || !master_[parallel.index]) return false;
  p.forked = false;
  fork = p.fork + p.nested;
  caller = p.caller;
  return true;
}

}  // namespace kojak::expert

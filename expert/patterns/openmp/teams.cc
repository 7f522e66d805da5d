#include "expert/patterns/openmp/teams.h"

#include <utility>

namespace kojak::expert {

OmpTeams::OmpTeams(const earl::Trace& trace, Barrier barrier, Begun begun)
    : barrier_(std::move(barrier)),
      begun_(std::move(begun)),
      processes_(trace.process_count()),
      master_(trace.location_count()),
      barriers_(trace.location_count()),
      depth_(trace.location_count()),
      forks_(trace.location_count()),
      memberships_(trace.location_count()),
      worker_(trace.location_count()),
      level_(trace.location_count()),
      latest_(trace.location_count()),
      last_task_(trace.location_count()) {
  trace.definitions().regions.for_each([&](RegionId id, const RegionDef& region) {
    if (!is_omp(region.type)) return;
    types_.set(id, region.type);
    parallel_ = parallel_ || region.type == kOmpParallel;
  });
  for (std::uint32_t i = 0; i < trace.location_count(); ++i) {
    const ProcessId process = trace.process(i);
    master_[i] = trace.main_index(process) == i;
    if (master_[i]) processes_[raw(process)].master = i;
    if (!master_[i]) processes_[raw(process)].others.push_back(i);
  }
}

// What starts and ends MPI is no time of the program's.
static bool starts_or_ends(const Call& call) {
  return call.function != nullptr && call.function->cls == MpiClass::kInitExit;
}

bool OmpTeams::concerns(const Definitions& definitions) {
  bool any = false;
  definitions.regions.for_each([&](RegionId, const RegionDef& region) {
    any = any || is_omp(region.type) || region_class(region) == TimeClass::kOmpLockApi;
  });
  return any;
}

// Never 0, and hardly ever equal for two teams that are open.
static std::uint64_t key_of_team(std::uint64_t number, ProcessId process) {
  const std::uint64_t key = (number + 1) ^ std::uint64_t{raw(process)} * 0x9E3779B97F4A7C15u;
  return key != 0 ? key : ~key;
}

void OmpTeams::on_team(const earl::OpenCall& call, std::uint64_t number, std::uint32_t index,
                       std::uint32_t size) {
  std::vector<Membership>& open = memberships_[call.index];
  if (type(call.region) != kOmpParallel || open.empty() || open.back().team != 0) return;
  numbered_ = true;
  const std::uint64_t key = key_of_team(number, call.process);
  open.back().team = key;
  Team& team = teams_[key];
  team.size = size;
  Fork& fork = forks_[call.index];
  if (index != 0) {
    worker_[call.index] = true;
  } else {
    team.master = call.index;
    if (fork.fresh) team.fork = fork.time;
    fork.fresh = false;
  }
  if (size < 2) return;
  team.members.push_back(open.back().entered);
  if (team.members.size() < size) return;
  if (team.fork) begun_(team.master, *team.fork, team.members);
  team.members = {};
}

void OmpTeams::on_barrier(const Call& call, std::uint64_t key) {
  const auto found = teams_.find(key);
  if (found == teams_.end()) return;
  Team& team = found->second;
  const std::uint64_t n = memberships_[call.index].back().barriers++;
  if (n < team.first) return;
  const std::size_t i = n - team.first;
  if (i >= team.barriers.size()) team.barriers.resize(i + 1);
  team.barriers[i].push_back(call);
  while (!team.barriers.empty() && team.barriers.front().size() >= team.size) {
    barrier_(team.barriers.front(), true);
    team.barriers.pop_front();
    ++team.first;
  }
}

void OmpTeams::leave_team(std::uint64_t key) {
  const auto found = teams_.find(key);
  if (found == teams_.end() || ++found->second.left < found->second.size) return;
  for (const std::vector<Call>& members : found->second.barriers) {
    if (!members.empty()) barrier_(members, false);
  }
  teams_.erase(found);
}

bool OmpTeams::between_regions(const Call& call) const {
  return worker_[call.index] && level_[call.index] == 0;
}

const Call* OmpTeams::task_of_another(const Call& call) const {
  if (type(call.region) != kOmpTaskwait) return nullptr;
  const Call* latest = nullptr;
  const auto look = [&](std::uint32_t location) {
    const std::optional<Call>& task = last_task_[location];
    if (location == call.index || !task || task->exit <= call.enter || call.exit < task->exit)
      return;
    if (latest == nullptr || latest->exit < task->exit) latest = &*task;
  };
  const Process& p = processes_[raw(call.process)];
  for (const std::uint32_t location : p.others) look(location);
  if (p.master) look(*p.master);
  return latest;
}

void OmpTeams::on_enter(const earl::OpenCall& call) {
  ++level_[call.index];
  const Seconds before = std::exchange(latest_[call.index], call.enter);
  if (type(call.region) != kOmpParallel) return;
  memberships_[call.index].push_back({.entered = {call, before}});
  Process& p = processes_[raw(call.process)];
  if (master_[call.index]) ++p.parallel;
  if (++depth_[call.index] > 1) return;  // most often a team of this thread alone
  if (barriers_[call.index] < p.first) barriers_[call.index] = p.first;
  ++p.team;
}

void OmpTeams::on_call(const Call& call) {
  Process& p = processes_[raw(call.process)];
  const std::uint8_t t = type(call.region);
  latest_[call.index] = call.exit;
  if (level_[call.index] != 0) --level_[call.index];
  std::vector<Membership>& open = memberships_[call.index];
  if (t == kOmpTask) last_task_[call.index] = call;
  if (t == kOmpParallel && !open.empty()) {
    const std::uint64_t team = open.back().team;
    open.pop_back();
    if (team != 0) leave_team(team);
  }
  if (Fork& fork = forks_[call.index]; fork.open) {
    fork.nested += call.exclusive;
    if (call.cnode == fork.caller) fork.open = false;  // left without a parallel region
  }
  if (t == kOmpParallel && depth_[call.index] != 0) --depth_[call.index];
  if (t == kOmpParallel && master_[call.index] && p.parallel != 0) --p.parallel;
  if (t == kOmpBarrier || t == kOmpImplicitBarrier) {
    // Within a region that was entered while nothing was recorded its team is not known.
    if (numbered_) {
      if (!open.empty() && open.back().team != 0) on_barrier(call, open.back().team);
      return;
    }
    if (depth_[call.index] > 1) return;
    const std::uint64_t n = barriers_[call.index]++;
    if (n < p.first) return;  // closed without this thread
    const std::size_t i = n - p.first;
    if (i >= p.barriers.size()) p.barriers.resize(i + 1);
    p.barriers[i].push_back(call);
    while (!p.barriers.empty() && p.barriers.front().size() >= p.team && p.team != 0) {
      barrier_(p.barriers.front(), true);
      p.barriers.pop_front();
      ++p.first;
    }
  } else if (parallel_ && master_[call.index] && p.parallel == 0 && t != kOmpParallel &&
             !p.others.empty() && !starts_or_ends(call)) {
    if (raw(call.cnode) >= alone_.size()) alone_.resize(raw(call.cnode) + 1);
    std::vector<TimeSum>& row = alone_[raw(call.cnode)];
    if (row.empty()) row.resize(processes_.size());
    row[raw(call.process)].add(std::max(0.0, call.exclusive.value));
  }
}

void OmpTeams::on_fork(const earl::OpenCall& call, Seconds time) {
  Fork& fork = forks_[call.index];
  fork = {.open = call.function == nullptr,
          .fresh = true,
          .time = time,
          .nested = {},
          .caller = call.cnode};
  Process& p = processes_[raw(call.process)];
  if (p.parallel == 0) close(p);  // else a nested team, whose barriers cannot be told apart
}

void OmpTeams::on_join(const earl::OpenCall& call) {
  // Its threads may leave their last barrier later: the next FORK closes the team.
  forks_[call.index].open = false;
}

void OmpTeams::close(Process& p) {
  for (const std::vector<Call>& members : p.barriers) {
    if (!members.empty()) barrier_(members, false);
  }
  p.first += p.barriers.size();
  p.barriers.clear();
  p.team = 0;
}

void OmpTeams::on_end() {
  for (Process& p : processes_) close(p);
  for (auto& [key, team] : teams_) {
    for (const std::vector<Call>& members : team.barriers) {
      if (!members.empty()) barrier_(members, false);
    }
  }
  teams_.clear();
}

bool OmpTeams::take_fork(const earl::OpenCall& parallel, Seconds& time, CallPathId& caller) {
  Fork& fork = forks_[parallel.index];
  if (!fork.open) return false;
  fork.open = false;
  time = fork.time + fork.nested;
  caller = fork.caller;
  return true;
}

}  // namespace kojak::expert

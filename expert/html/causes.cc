#include "expert/html/causes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "expert/catalogue.h"

namespace kojak::html {

CauseFinder::CauseFinder(std::span<const expert::PatternInstance> waits) : by_enter_(waits.size()) {
  for (const expert::PatternInstance& wait : waits) {
    waits_.push_back(as_wait(wait));
    locks_ = locks_ || waits_.back().rule == Rule::kUnlocks;
  }
  std::iota(by_enter_.begin(), by_enter_.end(), std::size_t{0});
  std::sort(by_enter_.begin(), by_enter_.end(),
            [&](std::size_t a, std::size_t b) { return waits_[a].enter < waits_[b].enter; });
}

CauseFinder::Wait CauseFinder::as_wait(const expert::PatternInstance& instance) {
  struct Entry {
    std::string_view metric;
    Rule rule;
  };
  static constexpr Entry kRules[] = {
      {"mpi_barrier_wait", Rule::kMembers},
      {"mpi_wait_nxn", Rule::kMembers},
      {"mpi_latebroadcast", Rule::kMembers},
      {"mpi_earlyreduce", Rule::kMembers},
      {"mpi_earlyscan", Rule::kMembers},
      {"mpi_rma_fence_wait", Rule::kMembers},
      {"mpi_rma_wait_window_create", Rule::kMembers},
      {"mpi_rma_wait_window_free", Rule::kMembers},
      {"shmem_barrier_wait", Rule::kMembers},
      {"shmem_wait_nxn", Rule::kMembers},
      {"shmem_latebroadcast", Rule::kMembers},
      {"mpi_latesender", Rule::kSenders},
      {"mpi_latesender_wo", Rule::kSenders},
      {"mpi_latereceiver", Rule::kReceivers},
      {"mpi_latereceiver_wo", Rule::kReceivers},
      {"mpi_rma_comm_lock_contention", Rule::kUnlocks},
      {"mpi_rma_sync_lock_contention", Rule::kUnlocks},
      {"mpi_rma_latepost", Rule::kPosts},
      {"mpi_rma_latepost_first", Rule::kPosts},
      {"mpi_rma_earlytransfer", Rule::kPosts},
      {"mpi_rma_earlywait", Rule::kCompletes},
      {"mpi_rma_latecomplete", Rule::kCompletes},
      {"mpi_rma_latecomplete_pair", Rule::kCompletes},
  };
  const std::string_view name = expert::all_metrics()[instance.metric].name;
  Wait wait;
  for (const Entry& entry : kRules) {
    if (entry.metric == name) wait.rule = entry.rule;
  }
  wait.ends_late = name == "mpi_rma_latecomplete" || name == "mpi_rma_latecomplete_pair";
  wait.location = instance.location;
  wait.enter = instance.enter;
  wait.exit = instance.exit;
  wait.end = instance.enter + instance.waiting;
  return wait;
}

template <class F>
void CauseFinder::each(Rule rule, std::uint32_t location, Seconds first, Seconds last, F&& f) {
  auto at = std::lower_bound(by_enter_.begin(), by_enter_.end(), first,
                             [&](std::size_t i, Seconds time) { return waits_[i].enter < time; });
  for (; at != by_enter_.end() && !(last < waits_[*at].enter); ++at) {
    Wait& wait = waits_[*at];
    if (wait.rule == rule && wait.location == location) f(wait);
  }
}

// The call that began nearest to the waiting's end: regions inside the waiting call, which do not
// count as waiting, may lie between the two. Where the waiting began later than its call, the last
// that began within it.
void CauseFinder::consider(Wait& wait, const earl::OpenCall& candidate) {
  if (candidate.index == wait.location || !(wait.enter < candidate.enter)) return;
  if (wait.exit < candidate.enter) return;
  const double distance = wait.ends_late ? wait.exit.value - candidate.enter.value
                                         : std::abs(candidate.enter.value - wait.end.value);
  if (wait.cause && distance >= wait.distance) return;
  wait.distance = distance;
  wait.cause = WaitCause{candidate.index, candidate.function};
}

template <class Members>
void CauseFinder::members(const Members& members) {
  for (const auto& member : members) {
    const earl::Call& call = member.call;
    each(Rule::kMembers, call.index, call.enter, call.enter, [&](Wait& wait) {
      for (const auto& other : members) consider(wait, other.call);
    });
  }
}
void CauseFinder::on_collective(const earl::CollectiveInstance& instance) {
  members(instance.members);
}
void CauseFinder::on_window_collective(const earl::WindowInstance& instance) {
  members(instance.members);
}

void CauseFinder::on_message_call(const earl::MessageCall& completed) {
  const earl::Call& call = *completed.call;
  each(Rule::kSenders, call.index, call.enter, call.enter, [&](Wait& wait) {
    for (const earl::Message* message : completed.received) consider(wait, message->send_call);
  });
  each(Rule::kReceivers, call.index, call.enter, call.enter, [&](Wait& wait) {
    for (const earl::Message* message : completed.sent) {
      if (message->posting_known) consider(wait, message->post_call);
    }
  });
}

void CauseFinder::on_access_transaction(const earl::AccessEpoch& epoch) {
  if (!epoch.has_start || !epoch.has_finish) return;
  each(Rule::kPosts, epoch.start.index, epoch.start.enter, epoch.finish.exit, [&](Wait& wait) {
    for (const earl::AccessTarget& target : epoch.targets) {
      if (target.exposure != nullptr && target.exposure->has_post) {
        consider(wait, target.exposure->post);
      }
    }
  });
}

void CauseFinder::on_exposure_transaction(const earl::ExposureEpoch& epoch) {
  if (!epoch.has_finish) return;
  const earl::Call& call = epoch.finish;
  each(Rule::kCompletes, call.index, call.enter, call.enter, [&](Wait& wait) {
    for (const earl::ExposureOrigin& origin : epoch.origins) {
      if (origin.access != nullptr && origin.access->has_finish) {
        consider(wait, origin.access->finish);
      }
    }
  });
}

// Whoever held the lock before unlocked it; those that came between are kept, too.
void CauseFinder::on_passive_epoch(const earl::PassiveEpoch& epoch) {
  constexpr std::size_t kHolders = 16;
  if (!locks_ || epoch.all || !epoch.has_lock || !epoch.has_unlock) return;
  std::vector<earl::OpenCall>& unlocks = unlocks_[{epoch.window, epoch.target}];
  each(Rule::kUnlocks, epoch.unlock.index, epoch.lock.enter, epoch.unlock.exit, [&](Wait& wait) {
    for (const earl::OpenCall& unlock : unlocks) consider(wait, unlock);
  });
  if (unlocks.size() == kHolders) unlocks.erase(unlocks.begin());
  unlocks.push_back(epoch.unlock);
}

}  // namespace kojak::html

// All metrics, in the order of the tree: a parent before its children. If two patterns could
// count the same time, the one that gets it comes first. A new pattern is a file in expert/patterns
// and a line here.
//
// A pattern is a struct with
//   kMetric           its node of the tree: names, unit, documentation (expert/metrics/metric.h)
//   severity(...)     its formula, a pure function
//   on_...(what, out) handlers for what it needs to see, named as in earl::Sink; they are called
//                     directly, and those that a pattern leaves out cost nothing. `out` is an Out
//                     (out.h): out.add(Pattern{}, call, severity).
// Constant data; thread-safe. Source: docs/patterns.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "expert/metrics/metric.h"
#include "expert/metrics/selection.h"
#include "expert/patterns/bytes.h"
#include "expert/patterns/communication.h"
#include "expert/patterns/mpi/barrier_completion.h"
#include "expert/patterns/mpi/barrier_wait.h"
#include "expert/patterns/mpi/early_reduce.h"
#include "expert/patterns/mpi/early_scan.h"
#include "expert/patterns/mpi/late_broadcast.h"
#include "expert/patterns/mpi/late_receiver.h"
#include "expert/patterns/mpi/late_sender.h"
#include "expert/patterns/mpi/mpi.h"
#include "expert/patterns/mpi/neighbour_wait.h"
#include "expert/patterns/mpi/nxn_completion.h"
#include "expert/patterns/mpi/nxn_wait.h"
#include "expert/patterns/mpi/reduce_wait.h"
#include "expert/patterns/openmp/openmp.h"
#include "expert/patterns/polling.h"
#include "expert/patterns/rma/early_transfer.h"
#include "expert/patterns/rma/early_wait.h"
#include "expert/patterns/rma/fence_completion.h"
#include "expert/patterns/rma/fence_wait.h"
#include "expert/patterns/rma/group_calls.h"
#include "expert/patterns/rma/late_complete.h"
#include "expert/patterns/rma/late_notification.h"
#include "expert/patterns/rma/late_post.h"
#include "expert/patterns/rma/lock_contention.h"
#include "expert/patterns/rma/pairs.h"
#include "expert/patterns/rma/window_create_wait.h"
#include "expert/patterns/rma/window_free_wait.h"
#include "expert/patterns/shmem/in_model.h"
#include "expert/patterns/shmem/shmem.h"
#include "expert/patterns/shmem/shmem_waits.h"
#include "expert/patterns/synchronization.h"
#include "expert/patterns/time.h"
#include "expert/patterns/unexplained.h"
#include "expert/patterns/upc/collectives.h"
#include "expert/patterns/upc/masters.h"
#include "expert/patterns/upc/notifications.h"
#include "expert/patterns/upc/split_barrier.h"
#include "expert/patterns/upc/transfers.h"
#include "expert/patterns/wait_for_progress.h"

namespace kojak::expert {

template <class Pattern>
struct OnePattern {
  Pattern pattern;
};
// One object of each. (A std::tuple of as many takes seconds to compile.)
template <class... Patterns>
struct PatternList : OnePattern<Patterns>... {
  static constexpr std::array<Metric, sizeof...(Patterns)> kMetrics{Patterns::kMetric...};

  template <class F>
  KOJAK_INLINED void for_each(F&& f) {
    (f(static_cast<OnePattern<Patterns>&>(*this).pattern), ...);
  }
};

// clang-format off
using Catalogue = PatternList<
    Time,
      Execution,
        Mpi,
          Communication,
            PointToPoint,
              LateSender,
                LateSenderWrongOrder,
              LateReceiver,
                LateReceiverWrongOrder,
            Collective,
              ReduceWait,
                EarlyReduce,
              EarlyScan,
              LateBroadcast,
              NxnWait,
              NxnCompletion,
              NeighbourWait,
            RmaCommunication,
              EarlyTransfer,
              RmaLockContention,
              RmaLateNotification,
              RmaWaitForProgress,
          Synchronization,
            Barrier,
              BarrierWait,
              BarrierCompletion,
            RmaSynchronization,
              WindowManagement,
                WindowCreateWait,
                WindowFreeWait,
              Fence,
                FenceWait,
                FenceCompletion,
              GeneralActiveTarget,
                LatePost,
                  BeforeFirstPost,
                EarlyWait,
                  LateComplete,
                    CorrespondingComplete,
                  IndirectWait,
                GatWaitForProgress,
              PassiveTarget,
                SyncLockContention,
                SyncWaitForProgress,
          FileIo,
            CollectiveIoWait,
          InitExit,
            FinalizeWait,
          Management,
            CommCreateWait,
        Shmem,
          ShmemCommunication,
            ShmemCollective,
              ShmemLateBroadcast,
              ShmemNxnWait,
            ShmemRma,
              ShmemRmaWaitForProgress,
          ShmemSynchronization,
            ShmemBarrier,
              ShmemBarrierWait,
            ShmemPairSync,
              ShmemQuietWaitForProgress,
              ShmemLock,
                ShmemLockContention,
                ShmemLockWaitForProgress,
              ShmemWait,
                ShmemLateNotification,
            ShmemInitExit,
              ShmemFinalizeWait,
            ShmemMemory,
              ShmemAllocationWait,
            ShmemTeams,
              ShmemTeamWait,
        InArmci<Shmem>,
          InArmci<ShmemCommunication>,
            InArmci<ShmemCollective>,
              InArmci<ShmemLateBroadcast>,
              InArmci<ShmemNxnWait>,
            InArmci<ShmemRma>,
              InArmci<ShmemRmaWaitForProgress>,
          InArmci<ShmemSynchronization>,
            InArmci<ShmemBarrier>,
              InArmci<ShmemBarrierWait>,
            InArmci<ShmemPairSync>,
              InArmci<ShmemQuietWaitForProgress>,
              InArmci<ShmemLock>,
                InArmci<ShmemLockContention>,
                InArmci<ShmemLockWaitForProgress>,
              InArmci<ShmemWait>,
                InArmci<ShmemLateNotification>,
            InArmci<ShmemInitExit>,
              InArmci<ShmemFinalizeWait>,
            InArmci<ShmemMemory>,
              InArmci<ShmemAllocationWait>,
            InArmci<ShmemTeams>,
              InArmci<ShmemTeamWait>,
        InUpc<Shmem>,
          InUpc<ShmemCommunication>,
            InUpc<ShmemCollective>,
              UpcLateBroadcast,
              UpcReduceWait,
                UpcEarlyReduce,
              UpcEarlyScan,
              UpcNxnWait,
              UpcCollectiveWait,
            InUpc<ShmemRma>,
              UpcLateNotification,
              InUpc<ShmemRmaWaitForProgress>,
          InUpc<ShmemSynchronization>,
            InUpc<ShmemBarrier>,
              InUpc<ShmemBarrierWait>,
              UpcSplitphaseWait,
            InUpc<ShmemPairSync>,
              InUpc<ShmemQuietWaitForProgress>,
              InUpc<ShmemLock>,
                InUpc<ShmemLockContention>,
                InUpc<ShmemLockWaitForProgress>,
            InUpc<ShmemInitExit>,
              InUpc<ShmemFinalizeWait>,
            InUpc<ShmemMemory>,
              InUpc<ShmemAllocationWait>,
        OpenMp,
          OmpFork,
          OmpFlush,
          OmpSynchronization,
            OmpBarrier,
              OmpExplicitBarrier,
                OmpExplicitBarrierWait,
              OmpImplicitBarrier,
                OmpImplicitBarrierWait,
            OmpLockCompetition,
              OmpLockApi,
                OmpLockApiWait,
              OmpLockCritical,
                OmpCriticalWait,
            OmpOrdered,
            OmpTaskwait,
              OmpTaskwaitWait,
      Service,
      Overhead,
      OmpBetweenRegions,
      OmpIdleThreads,
    NotExplained,
    Polling,
      IdleDispatcher,
    Visits,
    AllBytes,
      BytesP2p,
        BytesSentP2p,
        BytesReceivedP2p,
      BytesCollective,
        BytesSentCollective,
        BytesReceivedCollective,
      BytesRma,
        BytesPut,
        BytesGot,
    UpcHotThread,
    UpcHotPair,
    UpcFineGrained,
    UpcLateMaster,
    UpcIdleMaster,
    SynchronisedPairs,
      UnneededPairs>;
// clang-format on

// All nodes' metrics, in the order of the tree.
inline constexpr const auto& kAllMetrics = Catalogue::kMetrics;
inline constexpr std::size_t kMetrics = kAllMetrics.size();

template <class Pattern>
constexpr MetricIndex metric_index() {
  constexpr std::size_t kIndex = [] {
    std::size_t i = 0;
    while (i < kMetrics && kAllMetrics[i].name != Pattern::kMetric.name) ++i;
    return i;
  }();
  static_assert(kIndex < kMetrics, "the pattern is not in the catalogue");
  return static_cast<MetricIndex>(kIndex);
}

// The metric of another model that has the rule of one of SHMEM's; others stay.
inline constexpr auto kInModels = [] {
  std::array<std::array<MetricIndex, kMetrics>, kPgasModels> counterparts{};
  for (std::size_t model = 0; model < kPgasModels; ++model) {
    for (std::size_t i = 0; i < kMetrics; ++i) {
      counterparts[model][i] = static_cast<MetricIndex>(i);
      if (kAllMetrics[i].needs != Needs::kShmem) continue;
      for (std::size_t j = i; j < kMetrics; ++j) {
        if (kAllMetrics[j].needs == needs_of(static_cast<PgasModel>(model)) &&
            kAllMetrics[j].in_shmem == kAllMetrics[i].name) {
          counterparts[model][i] = static_cast<MetricIndex>(j);
        }
      }
    }
  }
  return counterparts;
}();
constexpr MetricIndex in_model(MetricIndex metric, PgasModel model) {
  return kInModels[static_cast<std::size_t>(model)][metric];
}

// Whether the metric's time is a part of another pattern's, so that it claims nothing of its own.
constexpr bool is_part_of_pattern(const Metric& metric) {
  for (const Metric& other : kAllMetrics) {
    if (other.name == metric.parent) return other.kind == Metric::Kind::kPattern;
  }
  return false;
}
// Whether the terminal and the page list it as a wait: a pattern's time that is part of no other
// pattern's.
constexpr bool is_wait(const Metric& metric) {
  return metric.kind == Metric::Kind::kPattern && metric.unit == Unit::kSeconds &&
         !is_part_of_pattern(metric);
}
// Whether it is a part of another pattern, by number, for what asks at each wait.
inline constexpr std::array<bool, kMetrics> kPartOfPattern = [] {
  std::array<bool, kMetrics> parts{};
  for (std::size_t i = 0; i < kMetrics; ++i) parts[i] = is_part_of_pattern(kAllMetrics[i]);
  return parts;
}();

// The nodes of the tree, in its order.
std::span<const Metric, kMetrics> all_metrics();
// As above with their numbers, without branches that need something for which there(needs) is
// false.
template <class F>
std::vector<ReportMetric> metrics_where(F&& there) {
  std::vector<ReportMetric> shown;
  MetricIndex index = 0;
  for (const Metric& metric : all_metrics()) {
    if (metric.needs == Needs::kNothing || there(metric.needs)) shown.push_back({metric, index});
    ++index;
  }
  return shown;
}
// The node that the exclusive time of a class belongs to.
MetricIndex metric_of(TimeClass c);

}  // namespace kojak::expert

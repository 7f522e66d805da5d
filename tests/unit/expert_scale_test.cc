// Severities that are known at any number of processes: 64 to 4,096 of them, in traces made here.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "earl/trace.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis.h"
#include "expert/findings/trace_findings.h"

namespace kojak::expert {
namespace {

std::string at(double time) {
  char text[40];
  std::snprintf(text, sizeof text, " time=%.17g", time);
  return text;
}
std::string line(const char* record, int rank, double time, const std::string& rest = "") {
  return std::string(record) + " lid=" + std::to_string(rank) + at(time) + " " + rest + "\n";
}

class AtScale : public ::testing::TestWithParam<int> {
 protected:
  // The trace's text, all processes in main from 0 to `end`.
  void analyse_text(const std::string& events, double end) {
    std::string text;
    for (int r = 0; r < GetParam(); ++r) text += line("ENTER", r, 0, "region=main");
    text += events;
    for (int r = 0; r < GetParam(); ++r) text += line("EXIT", r, end);
    auto made = text_to_trace(text, "scale");
    if (!made) throw std::runtime_error(made.error().message());
    made_ = std::move(*made);
    auto opened = earl::Trace::from(memory_source(made_.data(), made_.size()), "scale");
    trace_.emplace(std::move(*opened));
    report_.emplace(analyse(*trace_));
    EXPECT_FALSE(any_suspect(report_->findings())) << suspects(report_->findings());
  }
  double total(const char* metric) const { return report_->total(report_->find_metric(metric)); }
  std::vector<double> row(const char* metric, const char* call_path) const {
    std::vector<double> values(report_->threads());
    for (std::size_t c = 0; c < report_->call_paths().size(); ++c) {
      if (report_->call_path_name(c) == call_path) {
        report_->row(report_->find_metric(metric), c, values);
      }
    }
    return values;
  }

  std::vector<std::byte> made_;
  std::optional<earl::Trace> trace_;
  std::optional<Report> report_;
};

// Rank r enters a barrier and a fence r seconds after rank 0: it waits for the last, n - 1 - r.
TEST_P(AtScale, StairsIntoBarrierAndFence) {
  const int n = GetParam();
  std::string text;
  for (int r = 0; r < n; ++r) text += line("ENTER", r, 1 + r, "region=MPI_Barrier");
  for (int r = 0; r < n; ++r) text += line("MPI_COLLEXIT", r, 1 + n);
  for (int r = 0; r < n; ++r) text += line("ENTER", r, 2 + n + r, "region=MPI_Win_fence");
  for (int r = 0; r < n; ++r) text += line("MPI_WINCOLLEXIT", r, 2 + 2 * n, "wid=0");
  analyse_text(text, 3 + 2 * n);
  const double stairs = 0.5 * n * (n - 1);  // 0 + 1 + ... + (n - 1)
  EXPECT_DOUBLE_EQ(total("mpi_barrier_wait"), stairs);
  EXPECT_DOUBLE_EQ(total("mpi_rma_fence_wait"), stairs);
  EXPECT_DOUBLE_EQ(total("mpi_barrier_completion"), 0);
  const std::vector<double> waits = row("mpi_rma_fence_wait", "main / MPI_Win_fence");
  for (int r = 0; r < n; ++r) EXPECT_DOUBLE_EQ(waits[static_cast<std::size_t>(r)], n - 1 - r);
  EXPECT_DOUBLE_EQ(total("time"), n * (3.0 + 2 * n));
}

// A message runs round a ring: rank r > 0 receives from 1 on, and is sent to at 1 + r.
TEST_P(AtScale, LateSendersInARing) {
  const int n = GetParam();
  std::string text;
  for (int r = 1; r < n; ++r) text += line("ENTER", r, 1, "region=MPI_Recv");
  for (int r = 0; r + 1 < n; ++r) {
    if (r > 0) {
      text += line("MPI_RECV", r, r + 1.5, "slid=" + std::to_string(r - 1) + " tag=0 recvd=8");
      text += line("EXIT", r, r + 1.5);
    }
    text += line("ENTER", r, r + 2, "region=MPI_Send");
    text += line("MPI_SEND", r, r + 2, "dlid=" + std::to_string(r + 1) + " tag=0 sent=8");
    text += line("EXIT", r, r + 2.25);
  }
  text += line("MPI_RECV", n - 1, n + 0.5, "slid=" + std::to_string(n - 2) + " tag=0 recvd=8");
  text += line("EXIT", n - 1, n + 0.5);
  analyse_text(text, n + 1);
  // Rank r waits from 1 to the enter of rank r - 1's send, r + 1: r seconds.
  EXPECT_DOUBLE_EQ(total("mpi_latesender"), 0.5 * n * (n - 1));
  EXPECT_DOUBLE_EQ(total("mpi_latereceiver"), 0);
  EXPECT_DOUBLE_EQ(total("bytes_rcvd_p2p"), 8.0 * (n - 1));
}

// All but rank 0, the target, ask for its exclusive lock at 1; one after the other holds it for 2
// s.
TEST_P(AtScale, AQueueForOneLock) {
  const int n = GetParam();
  std::string text;
  for (int r = 1; r < n; ++r) text += line("ENTER", r, 1, "region=MPI_Win_lock");
  for (int r = 1; r < n; ++r) {
    const double held = 2.0 * r;
    if (r > 1)
      text += line("MPI_WIN_UNLOCK", r - 1, held, "llid=0 wid=0") + line("EXIT", r - 1, held);
    text += line("MPI_WIN_LOCK", r, held, "llid=0 wid=0 ltype=1") + line("EXIT", r, held);
    text += line("ENTER", r, held + 1, "region=MPI_Win_unlock");
  }
  text += line("MPI_WIN_UNLOCK", n - 1, 2.0 * n, "llid=0 wid=0") + line("EXIT", n - 1, 2.0 * n);
  analyse_text(text, 2 * n + 1);
  // Rank r waits from 1 until rank r - 1 has left unlock, at 2 r; rank 1 finds the lock free.
  const std::vector<double> waits = row("mpi_rma_sync_lock_contention", "main / MPI_Win_lock");
  EXPECT_DOUBLE_EQ(waits[1], 0);
  for (int r = 2; r < n; ++r) EXPECT_DOUBLE_EQ(waits[static_cast<std::size_t>(r)], 2.0 * r - 1);
  EXPECT_DOUBLE_EQ(total("mpi_rma_comm_lock_contention"), 0);
}

// They take turns: each asks again as soon as it has unlocked, three times in all. The k-th holder
// holds the lock from 2 k to 2 k + 2 and releases it on leaving unlock.
TEST_P(AtScale, TurnsAtOneLock) {
  const int n = GetParam(), members = n - 1, rounds = 3;
  std::string text;
  for (int r = 1; r < n; ++r) text += line("ENTER", r, 1, "region=MPI_Win_lock");
  for (int k = 1; k <= rounds * members; ++k) {
    const int r = 1 + (k - 1) % members;
    const double from = 2.0 * k;
    text += line("MPI_WIN_LOCK", r, from, "llid=0 wid=0 ltype=1") + line("EXIT", r, from);
    text += line("ENTER", r, from + 1, "region=MPI_Win_unlock");
    text += line("MPI_WIN_UNLOCK", r, from + 2, "llid=0 wid=0") + line("EXIT", r, from + 2);
    if (k + members <= rounds * members) {
      text += line("ENTER", r, from + 2, "region=MPI_Win_lock");
    }
  }
  analyse_text(text, 2 * rounds * members + 3);
  // Rank r waits 2 r - 1 in the first round (rank 1 not at all, it finds the lock free); later it
  // asks at the end of its last turn, and all the others have theirs before it has its own.
  const std::vector<double> waits = row("mpi_rma_sync_lock_contention", "main / MPI_Win_lock");
  for (int r = 1; r < n; ++r) {
    const double first = r == 1 ? 0 : 2.0 * r - 1;
    EXPECT_DOUBLE_EQ(waits[static_cast<std::size_t>(r)],
                     first + (rounds - 1) * 2.0 * (members - 1));
  }
}

// Rank 0 starts an access epoch towards all others at 1; rank r posts at 1 + r, and start is left
// at n + 1. A put to the last rank [n + 1, n + 1.5]; complete [n + 2, n + 3]. Rank r waits from r
// + 1.5 to n + 3.
TEST_P(AtScale, OneOriginAndPostsInStairs) {
  const int n = GetParam();
  std::string others;
  for (int r = 1; r < n; ++r) others += (r == 1 ? "" : ",") + std::to_string(r);
  const auto exit = [&](int r, double time, const std::string& group, int synex) {
    return line("MPI_WINEXIT", r, time,
                "wid=0 group=[" + group + "] synex=" + std::to_string(synex));
  };
  std::string text = line("ENTER", 0, 1, "region=MPI_Win_start");
  for (int r = 1; r < n; ++r) {
    text += line("ENTER", r, 1 + r, "region=MPI_Win_post") + exit(r, 1.25 + r, "0", 0);
    text += line("ENTER", r, 1.5 + r, "region=MPI_Win_wait");
  }
  text += exit(0, n + 1, others, 0);
  text += line("ENTER", 0, n + 1, "region=MPI_Put");
  text += line("MPI_PUT_1TS", 0, n + 1, "dlid=" + std::to_string(n - 1) + " wid=0 rmaid=0 sent=8");
  text += line("EXIT", 0, n + 1.5);
  text += line("ENTER", 0, n + 2, "region=MPI_Win_complete") + exit(0, n + 3, others, 1);
  text += line("MPI_PUT_1TE", n - 1, n + 3, "slid=0 wid=0 rmaid=0 recvd=8");
  for (int r = 1; r < n; ++r) text += exit(r, n + 3, "0", 1);
  analyse_text(text, n + 4);
  // The last post is at n, the first at 2.
  EXPECT_DOUBLE_EQ(total("mpi_rma_latepost"), n - 1);
  EXPECT_DOUBLE_EQ(total("mpi_rma_latepost_first"), 1);
  EXPECT_DOUBLE_EQ(total("mpi_rma_earlytransfer"), 0);
  // Rank r waits from r + 1.5 to the complete at n + 2: n + 0.5 - r.
  EXPECT_DOUBLE_EQ(total("mpi_rma_earlywait"), (n - 1) * (n + 0.5) - 0.5 * n * (n - 1));
  const std::vector<double> waits = row("mpi_rma_earlywait", "main / MPI_Win_wait");
  for (int r = 1; r < n; ++r) EXPECT_DOUBLE_EQ(waits[static_cast<std::size_t>(r)], n + 0.5 - r);
  // Only the last rank had a transfer, which ended at n + 1.5, when it already waited.
  EXPECT_DOUBLE_EQ(total("mpi_rma_latecomplete"), 0.5);
  EXPECT_DOUBLE_EQ(total("mpi_rma_latecomplete_pair"), 0.5);
  EXPECT_DOUBLE_EQ(total("mpi_rma_pairsync_count"), n - 1);
  EXPECT_DOUBLE_EQ(total("mpi_rma_pairsync_unneeded_count"), n - 2);
}

INSTANTIATE_TEST_SUITE_P(Processes, AtScale, ::testing::Values(64, 256, 1024, 4096));

}  // namespace
}  // namespace kojak::expert

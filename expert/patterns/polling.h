// Polling that no pattern of waiting explains. See expert/sums/polling_time.h and
// expert/sums/dispatchers.h.
#pragma once

#include "expert/metrics/metric.h"

namespace kojak::expert {

struct Polling {
  static constexpr Metric kMetric{
      .name = "mpi_polling",
      .title = "Polling",
      .kind = Metric::Kind::kSummand,
      .summary = "Time of polls that waited, which no pattern claims.",
      .formula =
          "exclusive duration - claims of patterns, of series of polls that wait and of the calls "
          "that end them; series that go on in one another count if the last of them found "
          "something, or if they last 1 ms or more and did not only read one place",
      .meaning =
          "A process asked again and again whether something has come (MPI_Test*, MPI_Iprobe, "
          "MPI_Win_test ...) and did hardly anything else, and what came is no reason for all of "
          "that time: the message was on its way, the MPI library held it back, or nothing came "
          "at all. The same time is also part of Time.",
      .advice =
          "If it is long, look at the timeline: a message that was sent long before it was found "
          "had to wait in the library of its sender, which makes progress in MPI calls only."};
};

struct IdleDispatcher {
  static constexpr Metric kMetric{
      .name = "mpi_polling_idle",
      .title = "Idle Dispatcher",
      .parent = "mpi_polling",
      .kind = Metric::Kind::kSummand,
      .summary = "Time in which a process that serves whoever asks had nothing to do.",
      .formula =
          "what would be Late Sender or Polling, where a dispatcher polls: at one call path, 10 "
          "finds or more of messages from any source, from 2 processes or more, to which it sent "
          "after at least half of them before the next; from the first to the last at least half "
          "of the time between MPI_Init and MPI_Finalize; at most half of the locations call "
          "there; and nothing that is found there was asked for: below one call of a library, sent "
          "to that process before. Or a thread that polls at one call path nine tenths of its "
          "life, where the first "
          "thread of its process never polls",
      .meaning =
          "A process or thread answers requests. Between them it is idle, and nobody is to blame "
          "for that. Who waits for its answer while it is idle waits for the one whose message it "
          "gets next: root causes say so.",
      .advice =
          "Nothing is wrong with it by itself. If it is most of the run, the process or its "
          "processor could do other work."};
};

}  // namespace kojak::expert

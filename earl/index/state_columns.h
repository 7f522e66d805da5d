// What was there from which event to which, aspect by aspect: written while the index is built,
// read to answer what the state after an event is. See earl/index for what each column holds.
#pragma once

#include <vector>

#include "earl/index/interval_column.h"
#include "earl/index/visit_marks.h"

namespace kojak::earl {

struct StateColumns {
  explicit StateColumns(std::uint32_t locations) : calls(locations), visits(locations) {}

  // f(column) for all.
  template <class Self, class F>
  static void each(Self& self, F&& f) {
    for (auto& column : self.calls) f(column);
    for (auto& marks : self.visits) f(marks);
    f(self.sends);
    f(self.transfers);
    f(self.origins);
    f(self.mpi_collectives);
    f(self.window_collectives);
    f(self.shmem_collectives);
    f(self.omp_collectives);
    f(self.epochs);
    f(self.window_locks);
    f(self.thread_locks);
    f(self.shmem_waits);
    f(self.symmetric);
    f(self.teams);
    f(self.polls);
  }

  std::vector<IntervalColumn> calls;  // by location
  std::vector<VisitMarks> visits;     // by location
  IntervalColumn sends, transfers, origins, thread_locks, teams, symmetric;
  IntervalColumn mpi_collectives{IntervalColumn::Contents::kSome};
  IntervalColumn window_collectives{IntervalColumn::Contents::kSome};
  IntervalColumn shmem_collectives{IntervalColumn::Contents::kSome};
  IntervalColumn omp_collectives{IntervalColumn::Contents::kSome};
  IntervalColumn epochs{IntervalColumn::Contents::kSome};
  IntervalColumn window_locks{IntervalColumn::Contents::kSome};
  IntervalColumn shmem_waits{IntervalColumn::Contents::kSome};
  IntervalColumn polls{IntervalColumn::Contents::kSome};
};

}  // namespace kojak::earl

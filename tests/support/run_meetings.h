// The meetings of a run's local traces, as pass 1 of a merge finds them.
//
// For tests only. Errors: those of reading.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expert/parallel/local_rows.h"

namespace kojak::test {

struct Meetings {
  std::string alone;  // why only one process can analyse this run; empty: no reason
  std::vector<parallel::Meeting> all;  // in the order of time; none where `alone`
  std::uint64_t events = 0;            // of the run
};

inline Result<Meetings> find_meetings(const std::string& folder,
                                      std::size_t most_rows = parallel::RowTable::kMost) {
  merge::MergeOptions options;
  options.inputs = {folder};
  options.output.clear();
  options.format = merge::Format::kCompact;
  auto rows = parallel::LocalRows::of(options, most_rows);
  if (!rows) return rows.error();
  Meetings found{rows->alone(), rows->meetings(true), 0};
  for (const merge::TraceFacts& facts : rows->merge().survey().traces) found.events += facts.events;
  return found;
}

}  // namespace kojak::test

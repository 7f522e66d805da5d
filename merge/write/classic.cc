#include "merge/write/classic.h"

#include <algorithm>

namespace kojak::merge {

Error no_classic(const std::string& path, std::string what) {
  return {ExitCode::kBadInput,
          path,
          std::nullopt,
          "",
          "",
          std::move(what) + ", which the classic format cannot express",
          "merge without --format classic"};
}

Status check_classic(const Survey& survey, const std::vector<LocalTrace>& traces,
                     Summary& summary) {
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (survey.traces[i].lock_all) return no_classic(traces[i].path, "uses MPI_Win_lock_all");
  }
  std::uint64_t reordered = 0, neighbours = 0, names = survey.definitions.shmem_locks.size();
  for (const MergedComm& comm : survey.definitions.comms) {
    const std::string& path = traces[comm.first].path;
    if (comm.intercommunicator()) return no_classic(path, "defines an intercommunicator");
    if (comm.foreign_members()) {
      return no_classic(path, "defines a communicator with members of another MPI_COMM_WORLD");
    }
    if (!std::is_sorted(comm.ranks.begin(), comm.ranks.end())) ++reordered;
    neighbours += comm.neighbours.size();
    names += comm.name.text.empty() ? 0 : 1;
  }
  for (const MergedWindow& window : survey.definitions.windows) {
    names += window.name.text.empty() ? 0 : 1;
  }
  summary.add(Finding::kOrderOfRanks, reordered);
  summary.add(Finding::kNativeLeftOut, survey.definitions.functions_off.size() +
                                           survey.definitions.properties.size() + neighbours +
                                           names);
  return {};
}

}  // namespace kojak::merge

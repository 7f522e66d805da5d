#include "expert/findings/failed_call_words.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "epilog/format/mpi_errors.h"
#include "epilog/format/mpi_functions.h"
#include "epilog/format/text/counts.h"
#include "expert/findings/last_call_words.h"

namespace kojak::expert {
namespace {

constexpr std::string_view kTruncated = "MPI_ERR_TRUNCATE";

// What the program may rely on after such calls.
std::string_view consequence(const FailedCallGroup& group) {
  if (error_name(group) == kTruncated)
    return group.count == 1 ? "; the message was taken" : "; the messages were taken";
  const MpiFunction* const function = find_mpi_function(group.function);
  if (function != nullptr && function->family == MpiFamily::kRma &&
      function->cls == MpiClass::kRmaCommunication) {
    return "; nothing was transferred";
  }
  return "";
}

}  // namespace

std::vector<FailedCallGroup> failed_call_groups(const Report& report) {
  std::map<std::tuple<std::string, std::string, std::uint8_t>, FailedCallGroup> groups;
  std::map<const FailedCallGroup*, std::set<std::uint32_t>> ranks;
  for (const FailedCalls& row : report.failed_calls()) {
    const std::size_t path = report.path_at(row.call_path);
    if (path == kNone) continue;
    const std::string function = report.region_name(report.call_paths()[path].region),
                      place = site_name(report.definitions(), report.program_site(path));
    const auto [at, fresh] = groups.try_emplace({function, place, row.error_class});
    FailedCallGroup& group = at->second;
    if (fresh) group = {function, place, row.error_class, {}, 0, row.first, row.call_path, {}};
    group.count += row.count;
    group.first = std::min(group.first, row.first);
    group.firsts.emplace_back(row.location, row.first);
    ranks[&group].insert(row.process);
  }
  std::vector<FailedCallGroup> all;
  for (auto& [key, group] : groups) {
    const std::set<std::uint32_t>& of_group = ranks[&group];
    group.ranks.assign(of_group.begin(), of_group.end());
    all.push_back(std::move(group));
  }
  std::stable_sort(all.begin(), all.end(), [](const FailedCallGroup& a, const FailedCallGroup& b) {
    return a.count > b.count;
  });
  return all;
}

std::string_view error_name(const FailedCallGroup& group) {
  return mpi_error(group.error_class).name;
}

std::string failed_call_words(const FailedCallGroup& group) {
  std::string words = group.function + " failed ";
  words += group.count == 1 ? "once" : grouped(group.count) + " times";
  if (!group.place.empty()) words += " at " + group.place;
  words += " on " + rank_list(group.ranks) + ": " + std::string(error_name(group)) + " (" +
           std::string(mpi_error(group.error_class).meaning) + ')';
  return words + std::string(consequence(group)) + '.';
}

std::string failed_calls_in_short(const Report& report) {
  const std::vector<FailedCallGroup> groups = failed_call_groups(report);
  if (groups.empty()) return {};
  std::uint64_t all = 0;
  for (const FailedCallGroup& group : groups) all += group.count;
  const FailedCallGroup& most = groups.front();
  return counted(all, "call", "calls") + " failed, " + (most.count == all ? "" : "most of them ") +
         most.function + (most.place.empty() ? "" : " at " + most.place);
}

}  // namespace kojak::expert

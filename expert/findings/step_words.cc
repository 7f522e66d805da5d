#include "expert/findings/step_words.h"

#include <string_view>
#include <utility>

#include "expert/findings/bar.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/group_words.h"
#include "expert/findings/numbers.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

// Of names of patterns: who waits in one that has this in its name waits for that.
constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
    {"lock_contention", "gives the lock back"},
    {"latesender", "sends"},
    {"latereceiver", "receives"},
    {"latepost", "posts"},
    {"earlytransfer", "posts"},
    {"earlywait", "completes"},
    {"latecomplete", "completes"},
    {"late_notification", "writes"},
    {"shmem_wait_until", "writes"},
    {"armci_wait_until", "writes"},
    {"mpi_earlyreduce", "sends"},
    {"mpi_earlyscan", "sends"},
    {"omp_lock", "gives the lock back"},
    {"omp_taskwait", "ends its task"},
};

std::string who(const Report& report, LocationIndex location) {
  return report.thread_at(location) == kNone ? "a process" : those(report, {location});
}

// ", after MPI_Win_wait() at halo.c:58, before MPI_Reduce() at halo.c:103"
std::string between(const Report& report, const Stretch& stretch) {
  std::string words;
  if (stretch.before != kNoCallPath) words += ", after " + call_words(report, stretch.before);
  if (stretch.after != kNoCallPath) words += ", before " + call_words(report, stretch.after);
  return words;
}

StepWords end_of(const Report& report, const Chain& chain, const CauseGroup& group) {
  const std::string name = who(report, chain.links.back().awaited);
  const std::string time = ' ' + short_time(chain.end - chain.begin);
  const Stretch& stretch = chain.stretch;
  switch (stretch.kind) {
    case Stretch::Kind::kBeforeRecording:
      return {name + " starts later", "its first event comes" + time + " after the others'"};
    case Stretch::Kind::kStarting:
      return {name + " starts" + time, "in " + call_words(report, stretch.path)};
    case Stretch::Kind::kOverhead:
      return {"the measurement itself takes" + time, "on " + name};
    case Stretch::Kind::kAnswering:
      return {name + ", which serves, answers" + time, "to " + who(report, stretch.whom)};
    case Stretch::Kind::kCall:
      return {name + " spends" + time, "in " + call_words(report, stretch.path) + " itself"};
    default:
      break;
  }
  const bool known = group.spread == CauseGroup::Spread::kNo && !is_absent(group.function);
  std::string rest = known ? "in " + where_of(report, group) + between(report, stretch)
                           : stretch_name(report, stretch);
  const std::string does = does_at_end(report, chain);
  const std::string_view of = does == "computes" ? "" : does == "has no processor" ? " in" : " for";
  return {name + ' ' + does + std::string(of) + time, std::move(rest)};
}

}  // namespace

bool waits_for_progress(MetricIndex metric) {
  return all_metrics()[metric].name.find("wait_for_progress") != std::string_view::npos;
}

std::string ends_wait_by(const Report& report, MetricIndex metric) {
  if (waits_for_progress(metric)) return "calls " + library_of(report);
  const std::string_view name = all_metrics()[metric].name;
  for (const auto& [part, does] : kEnds) {
    if (name.find(part) != std::string_view::npos) return std::string(does);
  }
  return "comes";
}

std::vector<StepWords> step_words(const Report& report, const Chain& chain,
                                  const CauseGroup& group) {
  std::vector<StepWords> steps;
  for (const ChainLink& link : chain.links) {
    StepWords& step = steps.emplace_back();
    step.lead = who(report, link.waiter) + " waits " + short_time(link.end - link.begin);
    step.rest = "in " + call_words(report, link.call_path);
    if (link.awaited == kNoLocation) continue;
    step.rest += ", until " + who(report, link.awaited) + ' ' + ends_wait_by(report, link.metric);
  }
  if (chain.explained && !chain.links.empty()) steps.push_back(end_of(report, chain, group));
  return steps;
}

}  // namespace kojak::expert

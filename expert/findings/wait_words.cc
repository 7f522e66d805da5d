#include "expert/findings/wait_words.h"

#include <algorithm>
#include <cmath>

#include "epilog/format/text/counts.h"
#include "expert/findings/numbers.h"

namespace kojak::expert {

std::string call_name(const Report& report, CallPathIndex call_path) {
  const std::size_t path = report.path_at(call_path);
  if (path == kNone) return "a call";
  const std::size_t library = report.library_call(path);
  const std::string site = report.call_site(library == kNone ? path : library);
  std::string name = report.region_name(report.call_paths()[path].region);
  if (library != kNone) name += " in " + report.region_name(report.call_paths()[library].region);
  return site.empty() ? name : name + " at " + site;
}

std::string ending(const Report& report, LocationIndex location, CallPathIndex call_path,
                   bool at_exit) {
  const std::size_t thread = report.thread_at(location);
  return (thread == kNone ? std::string("a process") : report.thread_name(thread)) +
         (at_exit ? " leaves " : " enters ") + call_name(report, call_path);
}

namespace {

void add_to(std::vector<Partner>& partners, const Partner& more) {
  const auto known = std::find_if(partners.begin(), partners.end(), [&](const Partner& p) {
    return p.location == more.location && p.call_path == more.call_path &&
           p.at_exit == more.at_exit;
  });
  if (known != partners.end()) {
    known->waited += more.waited;
  } else {
    partners.push_back(more);
  }
}

void sort_by_seconds(std::vector<Partner>& partners) {
  std::stable_sort(partners.begin(), partners.end(),
                   [](const Partner& a, const Partner& b) { return a.waited > b.waited; });
}

}  // namespace

std::vector<Partner> partners_of(const Instance& instance) {
  std::vector<Partner> partners;
  for (const Waiter& w : instance.waiters) {
    const EndedBy& by = w.ended_by;
    if (by.known()) add_to(partners, {by.location, by.call_path, by.at_exit, w.waiting});
  }
  sort_by_seconds(partners);
  return partners;
}

const std::vector<Partner>& partners_of(const Report& report, MetricIndex metric,
                                        CallPathIndex call_path) {
  static const std::vector<Partner> kNobody;
  const auto found = report.waits().partners.find(WaitResults::place(metric, call_path));
  return found == report.waits().partners.end() ? kNobody : found->second;
}

std::vector<Partner> partners_of(const Report& report, MetricIndex metric, const CallPathNode& at) {
  std::vector<Partner> partners = partners_of(report, metric, at.index);
  for (const CallPathIndex index : at.also) {
    for (const Partner& p : partners_of(report, metric, index)) add_to(partners, p);
  }
  if (!at.also.empty()) sort_by_seconds(partners);
  return partners;
}

std::string largest_part(double part, double whole) {
  const double share = whole > 0 ? part / whole : 0;
  if (share > 0.995) return "all of it";
  const std::string percent =
      std::to_string(static_cast<int>(std::floor(100 * share + 0.5))) + " %";
  return (share > 0.5 ? "most of it, " : "the largest part, ") + percent + ',';
}

std::string cost_words(const SendCost::Fit& fit, bool same_node) {
  return std::string("A message ") + (same_node ? "within a node" : "between nodes") + " takes " +
         fixed(1e6 * fit.latency, 2) + " us + " + fixed(1e9 * fit.per_byte, 4) +
         " ns for each byte (" + grouped(fit.messages) + " messages).";
}

std::string worst_words(const Report& report, const SendModeFinding& finding) {
  std::string words = "worst: " + fixed(finding.worst.waiting.value, 3) + " s at " +
                      fixed(finding.worst.enter.value, 6) + ", " +
                      report.thread_name(report.thread_at(finding.worst.location));
  if (finding.worst.distance > 0) {
    words += "; hidden if issued " + fixed(1e6 * finding.worst.distance, 1) + " us before the Wait";
  }
  return words;
}

}  // namespace kojak::expert

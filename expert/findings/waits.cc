#include "expert/findings/waits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "epilog/format/text/counts.h"
#include "expert/findings/cause_words.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/rules.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/shares.h"

namespace kojak::expert {
namespace {

std::string seconds(double value) {
  return fixed(value, 3);
}
std::string percent(double part, double whole) {
  return whole > 0 ? fixed(100 * part / whole, 1) + " %" : "-";
}

// What no pattern explains, if it is worth a word: how much, and where the largest part of it is.
Statement unexplained(const Report& report, double whole) {
  const std::size_t m = report.find_metric(NotExplained::kMetric.name);
  if (m == kNone) return {};
  const Shares shares(report);
  const double total = shares.part(report, m);
  if (total < kWorthLooking * whole || total == 0) return {};
  std::size_t worst = 0;
  double most = 0;
  std::vector<double> values(report.threads());
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    if (shares.time.left_out > 0 && Shares::is_start(report, c)) continue;
    if (!report.row(m, c, values)) continue;
    double sum = 0;
    for (const double value : values) sum += value;
    if (sum > most) {
      most = sum;
      worst = c;
    }
  }
  Statement said;
  std::string words =
      unexplained_words(percent(total, whole), seconds(total), percent(most, total));
  words.front() = 'L';
  said.words(std::move(words));
  return std::move(said.path(report.call_path_name(worst)).words("."));
}

// What a fence or an epoch of its kind synchronises without need.
Statement pairs_in_vain(const Report& report, std::size_t metric) {
  const std::size_t all = report.find_metric(SynchronisedPairs::kMetric.name);
  const std::size_t vain = report.find_metric(UnneededPairs::kMetric.name);
  if (all == kNone || vain == kNone) return {};
  const std::size_t parent = report.metrics()[metric].parent;
  std::vector<double> values(report.threads());
  double counts[2] = {0, 0};
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    if (!report.row(parent, c, values)) continue;  // other calls
    for (const std::size_t m : {all, vain}) {
      if (!report.row(m, c, values)) continue;
      for (const double value : values) counts[m == vain] += value;
    }
  }
  if (counts[1] == 0) return {};
  const auto rounded = [](double count) {
    return grouped(static_cast<std::uint64_t>(std::llround(count)));
  };
  Statement said;
  said.words("Of the pairs of processes that these calls synchronise, " + rounded(counts[1]) +
             " of " + rounded(counts[0]) +
             " exchange nothing in their epoch: they wait for each other without need.");
  return said;
}

// Where threads of OpenMP have nothing to do because their master is in MPI, if that is worth a
// word.
Statement idle_while_master_in_mpi(const Report& report, double whole) {
  const std::size_t metric = report.find_metric(OmpIdleThreads::kMetric.name);
  if (metric == kNone) return {};
  double most = 0;
  std::size_t worst = 0;
  std::vector<double> values(report.threads()), of_worst;
  for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
    const RegionDef* region = report.definitions().regions.find(report.call_paths()[c].region);
    if (region == nullptr || region->function == nullptr || !report.row(metric, c, values))
      continue;
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    if (sum <= most) continue;
    most = sum;
    worst = c;
    of_worst = values;
  }
  if (most == 0 || most < kWorthLooking * whole) return {};
  std::map<ProcessId, std::size_t> idle;  // threads
  for (std::size_t i = 0; i < of_worst.size(); ++i) {
    const LocationDef* location = report.definitions().locations.find(report.thread_location(i));
    if (of_worst[i] > 0 && location != nullptr) ++idle[location->process];
  }
  std::size_t threads = 1;
  for (const auto& [process, count] : idle) threads = std::max(threads, count);
  Statement said;
  said.words(counted(threads, "thread is", "threads are") + " idle while the master is in ");
  said.names(call_name(report, report.call_paths()[worst].index));
  said.words(": " + seconds(most) + " s in all, " + percent(most, whole) + '.');
  return said;
}

// The most that a run can get shorter without a pattern: what its longest waiting thread waits.
Statement gain(const Report& report, std::size_t metric) {
  if (!report.last_calls().empty()) return {};  // how long the run would have taken is unknown
  const std::vector<double> sums = report.by_thread(metric);
  const auto most = std::max_element(sums.begin(), sums.end());
  const auto thread = static_cast<std::size_t>(most - sums.begin());
  Statement said;
  said.words("Without it the run would be at most " + seconds(*most) +
             " s shorter, which is what " + report.thread_name(thread) + " waits.");
  return said;
}

// Kinds of MPI calls that take much time which no pattern of waiting explains, the most first.
void add_consumers(const Report& report, std::vector<Statement>& found) {
  struct Consumer {
    std::size_t metric;
    double seconds;
  };
  const double whole = whole_time(report);
  std::vector<Consumer> consumers;
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    const Metric& metric = report.metrics()[m].metric;
    if (!metric.is_call_time()) continue;
    double explained = 0;
    for (std::size_t part = m + 1; part < report.metrics().size(); ++part) {
      if (report.metrics()[part].parent == m) explained += report.total(part);
    }
    const double left = report.total(m) - explained;
    if (left > kLargeConsumer * whole) consumers.push_back({m, left});
  }
  std::stable_sort(consumers.begin(), consumers.end(),
                   [](const Consumer& a, const Consumer& b) { return a.seconds > b.seconds; });
  if (consumers.size() > 3) consumers.resize(3);
  std::vector<double> values(report.threads());
  for (const Consumer& consumer : consumers) {
    double most = 0, all = 0;
    std::size_t place = 0;
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(consumer.metric, c, values)) continue;
      double sum = 0;
      for (const double value : values) sum += value;
      all += sum;
      if (sum > most) {
        most = sum;
        place = c;
      }
    }
    const MetricNode& node = report.metrics()[consumer.metric];
    std::string title(node.metric.title);
    if (node.parent != kNone)
      title += " (" + std::string(report.metrics()[node.parent].metric.title) + ")";
    Statement& said = found.emplace_back();
    said.words(title + ": " + percent(consumer.seconds, whole) + " of the processes' time (" +
               seconds(consumer.seconds) +
               " s) is spent in these calls, and no pattern finds a wait there; " +
               largest_part(most, all) + " in ");
    said.path(report.call_path_name(place)).words(".");
  }
}

// Where the worst wait is, until when, and what can be done about it.
void add_worst(const Report& report, std::size_t worst, double whole,
               std::vector<Statement>& found) {
  const Metric& metric = report.metrics()[worst].metric;
  const std::vector<PlaceWait> waits = waits_of(report);
  const auto first = std::find_if(waits.begin(), waits.end(),
                                  [&](const PlaceWait& w) { return w.metric == worst; });
  Statement& place = found.emplace_back();
  place.words(std::string(metric.title) + " takes " + percent(report.total(worst), whole) +
              " of the processes' time (" + seconds(report.total(worst)) + " s), " +
              largest_part(first->seconds, report.total(worst)) + " in ");
  place.path(report.call_path_name(first->call_path));
  place.words(", worst on " + report.thread_name(first->worst_thread) + ".");
  const std::vector<Partner> partners = partners_of(report, report.metrics()[worst].own.front(),
                                                    report.call_paths()[first->call_path]);
  if (!partners.empty()) {
    const Partner& most = partners.front();
    Statement& until = found.emplace_back();
    until.words("There, " + largest_part(most.waited.seconds(), first->seconds) + " until ");
    until.names(ending(report, most.location, most.call_path, most.at_exit)).words(".");
  }
  found.push_back(gain(report, worst));
  found.emplace_back().words(std::string(metric.meaning));
  found.emplace_back().words(std::string(metric.advice));
  found.push_back(unexplained(report, whole));
  found.push_back(pairs_in_vain(report, worst));
  found.push_back(idle_while_master_in_mpi(report, whole));
}

}  // namespace

FirstLook what_to_look_at_first(const Report& report) {
  FirstLook look;
  const double whole = whole_time(report);
  if (const std::string warning = processor_warning(report); !warning.empty()) {
    look.before.emplace_back().names(warning);
  }
  std::size_t worst = kNone;
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    if (report.is_wait(m) && (worst == kNone || report.total(m) > report.total(worst))) worst = m;
  }
  if (worst == kNone || report.total(worst) < kWorthLooking * whole || report.total(worst) == 0) {
    Statement& none = look.before.emplace_back();
    none.words("No pattern of waiting takes more than 1 % of the time" +
               std::string(report.last_calls().empty()
                               ? "."
                               : ", apart from the calls that did not return (above)."));
    if (const Statement more = unexplained(report, whole); !more.empty()) {
      none.words(" ");
      none.pieces.insert(none.pieces.end(), more.pieces.begin(), more.pieces.end());
    }
  } else {
    if (report.root_causes() && !report.root_causes()->causes.empty()) {
      look.before.push_back(cause_statement(report, report.root_causes()->causes.front()));
      look.caused = true;
    }
    add_worst(report, worst, whole, look.waits);
  }
  add_consumers(report, look.waits);
  std::erase_if(look.waits, [](const Statement& said) { return said.empty(); });
  return look;
}

}  // namespace kojak::expert

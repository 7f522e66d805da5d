#include "expert/sums/processors.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>

namespace kojak::expert {
namespace {

constexpr double kNanoseconds = 1e-9;
constexpr std::size_t kFewest = 64;  // readings that each location may keep
double seconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * kNanoseconds;
}

}  // namespace

double ProcessorUse::covered() const {
  TimeSum sum;
  for (const Thread& t : threads) sum.add(t.covered);
  return sum.seconds();
}

double ProcessorUse::wanted() const {
  TimeSum sum;
  for (const Thread& t : threads) sum.add(t.wanted);
  return sum.seconds();
}

const ProcessorUse::Thread* ProcessorUse::worst() const {
  const auto share = [](const Thread& t) { return t.covered > 0 ? t.wanted / t.covered : 0; };
  const auto at =
      std::max_element(threads.begin(), threads.end(),
                       [&](const Thread& a, const Thread& b) { return share(a) < share(b); });
  return at == threads.end() ? nullptr : &*at;
}

Processors::Processors(std::size_t locations, std::size_t readings)
    : locations_(locations),
      most_(std::max(kFewest, readings / std::max<std::size_t>(locations, 1))) {}

Processors::Processors(const Setting& setting) : Processors(setting.locations()) {
  services_ = &setting.services;
  const Definitions& definitions = setting.definitions();
  classes_.emplace(definitions);
  for (std::size_t l = 0; l < locations_.size(); ++l) {
    const LocationDef* def =
        definitions.locations.find(setting.trace.location(static_cast<std::uint32_t>(l)));
    looked_at_.push_back(def != nullptr &&
                         definitions.properties.find(run_property::kStretches, def->process));
  }
}

void Processors::on_processor(const earl::OpenCall& in, Seconds time,
                              const earl::ProcessorTimes& times) {
  if (services_ != nullptr && services_->at(in.index, time)) return;
  add(in.index, raw(in.cnode), time, times);
  Location& l = locations_[in.index];
  const std::optional<NotRun> found = l.not_run.add(time, times);
  const bool outside =
      in.function == nullptr && classes_ && (*classes_)[in.region] == TimeClass::kUser;
  if (!found || !outside || !found->known) return;
  l.blocked.add(found->blocked);
  l.no_processor.add(found->no_processor);
}

bool Processors::add(const Processors& other, std::span<const CallPathIndex> paths) {
  any_ = any_ || other.any_;
  bool good = true;
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    Location& l = locations_[i];
    const Location& theirs = other.locations_[i];
    l.blocked += theirs.blocked;
    l.no_processor += theirs.no_processor;
    if (theirs.seen == 0) continue;
    if (l.seen == 0) {
      l.first = theirs.first;
      l.begin = theirs.begin;
      l.path = paths[theirs.path];
    } else {
      good = good && l.last.wanted <= theirs.first.wanted && l.last.ran <= theirs.first.ran &&
             l.last.preempted <= theirs.first.preempted;
    }
    good = good && l.every == 1 && theirs.every == 1 &&
           l.readings.size() + theirs.readings.size() <= most_;
    l.last = theirs.last;
    l.end = theirs.end;
    l.seen += theirs.seen;
    l.readings.insert(l.readings.end(), theirs.readings.begin(), theirs.readings.end());
  }
  return good;
}

void Processors::add(LocationIndex location, CallPathIndex path, Seconds time,
                     const earl::ProcessorTimes& times) {
  Location& l = locations_[location];
  if (!times.wanted_known()) return;
  any_ = true;
  if (l.seen == 0) {
    l.first = times;
    l.path = path;
    l.begin = time;
  } else if (times.wanted < l.last.wanted || times.ran < l.last.ran ||
             times.preempted < l.last.preempted) {
    return;  // a damaged trace: counts do not fall
  }
  l.last = times;
  l.end = time;
  if (l.seen++ % l.every != 0) return;
  if (l.readings.size() == most_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < l.readings.size(); i += 2) l.readings[kept++] = l.readings[i];
    l.readings.resize(kept);
    l.every *= 2;
    if ((l.seen - 1) % l.every != 0) return;
  }
  l.readings.push_back({time, times.wanted});
}

Processors::Bounds Processors::without(LocationIndex location, Seconds from, Seconds to) const {
  Bounds bounds;
  if (location >= locations_.size() || !(from < to)) return bounds;
  const Location& l = locations_[location];
  if (l.readings.empty()) return {0, (to - from).value};
  const Reading last{l.end, l.last.wanted};
  const auto after = std::upper_bound(l.readings.begin(), l.readings.end(), from,
                                      [](Seconds t, const Reading& r) { return t < r.time; });
  auto i = static_cast<std::size_t>(after - l.readings.begin());
  // Before the first reading and behind the last nothing is known.
  if (from < l.begin) bounds.most += (std::min(to, l.begin) - from).value;
  if (l.end < to) bounds.most += (to - std::max(from, l.end)).value;
  for (i = i == 0 ? 0 : i - 1; i < l.readings.size(); ++i) {
    const Reading& a = l.readings[i];
    const Reading& b = i + 1 < l.readings.size() ? l.readings[i + 1] : last;
    if (!(a.time < to)) break;
    const double length = (b.time - a.time).value;
    const double inside = (std::min(to, b.time) - std::max(from, a.time)).value;
    if (inside <= 0) continue;
    const double wanted = std::min(seconds(b.wanted - a.wanted), length);
    bounds.most += std::min(wanted, inside);
    bounds.least += std::max(0.0, wanted - (length - inside));
  }
  return bounds;
}

ProcessorUse Processors::finish(const Definitions& definitions,
                                const std::vector<CallPath>& paths) const {
  ProcessorUse use = summarise(definitions);
  for (ProcessorUse::Thread& t : use.threads) {
    while (paths[t.root].parent != kNone) {
      t.root = static_cast<CallPathIndex>(paths[t.root].parent);
    }
  }
  return use;
}

void Processors::add_to(WaitResults& waits) const {
  for (Instance& i : waits.worst) {
    const Waiter& w = i.waiters.front();
    if (!w.ended_by.known()) continue;
    i.without_processor = without(w.ended_by.location,
                                  w.ended_by.time - Seconds{w.waiting.seconds()}, w.ended_by.time)
                              .least;
  }
}

ProcessorUse Processors::summarise(const Definitions& definitions) const {
  ProcessorUse use;
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    const Location& l = locations_[i];
    if (l.seen < 2) continue;
    use.threads.push_back({.location = static_cast<LocationIndex>(i),
                           .root = l.path,
                           .covered = (l.end - l.begin).value,
                           .ran = seconds(l.last.ran - l.first.ran),
                           .wanted = seconds(l.last.wanted - l.first.wanted),
                           .preempted = l.last.preempted - l.first.preempted,
                           .blocked = l.blocked.seconds(),
                           .no_processor = l.no_processor.seconds()});
  }
  use.looked_at = looked_at_;
  use.sharing = sharing_of(definitions);
  use.limits = limits_of(definitions);
  if (const std::string* why = definitions.properties.find(run_property::kNoProcessorTimes)) {
    use.unknown = *why;
  }
  return use;
}

void add_processor_metric(const ProcessorUse& use, SeverityStore& severities,
                          std::vector<ReportMetric>& metrics) {
  if (use.threads.empty()) return;
  Metric metric;
  metric.name = kNoProcessorMetric;
  metric.title = "Without a Processor";
  metric.kind = Metric::Kind::kSummand;
  metric.summary =
      "Time in which a thread was ready to run and no processor was free for it, as the kernel "
      "counts it. It is given for each thread as a whole, not for single calls.";
  metric.meaning =
      "A thread without a processor is late for all that wait for it: a wait for it may tell of "
      "the "
      "machine and not of the program.";
  metric.advice =
      "Give each process a processor of its own (fewer processes on a node, or another binding), "
      "end "
      "what else runs there, and measure again.";
  const MetricIndex index = severities.add_metric(SeverityStore::cells_of(metric));
  metrics.push_back({metric, index});
  for (const ProcessorUse::Thread& t : use.threads) {
    if (t.wanted > 0) severities.add(index, t.root, t.location, t.wanted);
  }
}

std::size_t count_processors(const std::string& list) {
  std::size_t count = 0;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    std::size_t first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc{}) return 0;
    std::size_t last = first;
    if (next < end && *next == '-') {
      const auto range = std::from_chars(next + 1, end, last);
      if (range.ec != std::errc{} || last < first) return 0;
      next = range.ptr;
    }
    count += last - first + 1;
    if (next < end && *next != ',') return 0;
    at = next < end ? next + 1 : next;
  }
  return count;
}

std::vector<ProcessorUse::Limit> limits_of(const Definitions& definitions) {
  // The counts are those of the group, so each of its processes tells about the same.
  std::map<std::pair<std::uint32_t, std::string>, ProcessorUse::Limit> groups;
  definitions.locations.for_each([&](LocationId, const LocationDef& location) {
    const std::string* limit =
        definitions.properties.find(run_property::kProcessorLimit, location.process);
    const std::string* stops =
        definitions.properties.find(run_property::kProcessorStops, location.process);
    if (limit == nullptr || stops == nullptr) return;
    char group[256] = "";
    ProcessorUse::Limit told;
    unsigned long long times = 0;
    if (std::sscanf(limit->c_str(), "%lf %255[^\n]", &told.processors, group) != 2 ||
        std::sscanf(stops->c_str(), "%llu times, %lf s", &times, &told.stopped) != 2 ||
        times == 0 || !(told.processors > 0) || !(told.stopped >= 0)) {
      return;
    }
    const NodeDef* node = definitions.nodes.find(location.node);
    told.node = node != nullptr ? node->name : "";
    told.group = group;
    told.stops = times;
    ProcessorUse::Limit& known = groups[{raw(location.node), told.group}];
    if (known.stops < told.stops) known = told;
  });
  std::vector<ProcessorUse::Limit> found;
  for (auto& entry : groups) found.push_back(std::move(entry.second));
  return found;
}

std::vector<ProcessorUse::Sharing> sharing_of(const Definitions& definitions) {
  std::map<std::pair<std::uint32_t, std::string>, std::set<std::uint32_t>> processes;
  definitions.locations.for_each([&](LocationId, const LocationDef& location) {
    const std::string* allowed =
        definitions.properties.find(run_property::kProcessors, location.process);
    if (allowed != nullptr) processes[{raw(location.node), *allowed}].insert(raw(location.process));
  });
  std::vector<ProcessorUse::Sharing> found;
  for (const auto& [where, who] : processes) {
    const std::size_t count = count_processors(where.second);
    if (count == 0 || who.size() <= count) continue;
    const NodeDef* node = definitions.nodes.find(static_cast<NodeId>(where.first));
    found.push_back({node != nullptr ? node->name : "", where.second, who.size(), count});
  }
  return found;
}

}  // namespace kojak::expert

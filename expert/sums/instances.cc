#include "expert/sums/instances.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

constexpr std::size_t kFirstWaiters = 8;  // for so many an instance has room at first

bool longer(const Waiter& a, const Waiter& b) {
  if (a.waiting != b.waiting) return a.waiting > b.waiting;
  return std::tuple(a.enter, a.location) < std::tuple(b.enter, b.location);
}

const Waiter& longest_of(const Instance& instance) {
  return *std::min_element(instance.waiters.begin(), instance.waiters.end(), longer);
}

// Of equal ones the earlier is the worse.
bool worse(const Instance& a, const Instance& b) {
  if (a.waiting != b.waiting) return a.waiting > b.waiting;
  const auto place = [](const Instance& i) {
    return std::tuple(i.begin, i.part, i.operation.number);
  };
  if (place(a) != place(b)) return place(a) < place(b);
  return longer(longest_of(a), longest_of(b));  // an operation may be told of in several stages
}

// Whether some of its waits may turn out to be those of a dispatcher.
constexpr bool may_be_moved(MetricIndex metric) {
  return metric == metric_index<LateSender>() || metric == metric_index<LateSenderWrongOrder>();
}

void list_longest(Instance& instance) {
  std::vector<Waiter>& waiters = instance.waiters;
  if (waiters.size() <= Instances::kListed) {
    std::sort(waiters.begin(), waiters.end(), longer);
    return;
  }
  const auto end = waiters.begin() + Instances::kListed;
  std::partial_sort(waiters.begin(), end, waiters.end(), longer);
  instance.further += waiters.size() - Instances::kListed;
  waiters.resize(Instances::kListed);
}

}  // namespace

void Instances::append(Instance& instance, const Wait& wait) {
  if (instance.waiters.empty()) {
    instance.metric = wait.metric;
    instance.operation = wait.operation;
    instance.waiting = {};
    instance.begin = wait.begin;
    instance.end = wait.end;
    instance.further = 0;
    instance.waiters.reserve(kFirstWaiters);
  }
  instance.waiting.add(wait.waiting.value);
  instance.begin = std::min(instance.begin, wait.begin);
  instance.end = std::max(instance.end, wait.end);
  if (!instance.waiters.empty()) {  // a call that waited in several parts of the time
    Waiter& last = instance.waiters.back();
    if (last.location == wait.location && last.enter == wait.enter &&
        last.ended_by.location == wait.ended_by.location &&
        last.ended_by.time == wait.ended_by.time) {
      last.waiting.add(wait.waiting.value);
      return;
    }
  }
  instance.waiters.push_back({wait.location, wait.call_path, wait.enter, wait.exit,
                              TimeSum::of(wait.waiting.value), wait.ended_by});
}

void Instances::on_wait(const Wait& wait) {
  if (kAllMetrics[wait.metric].kind != Metric::Kind::kPattern) return;
  if (wait.ended_by.known()) count_partner(wait);
  if (limit_ == 0) return;
  if (wait.metric >= metrics_.size()) metrics_.resize(wait.metric + 1);
  OfMetric& of = metrics_[wait.metric];
  if (wait.operation.scattered) return append(scattered(of, wait.operation.number), wait);
  if (of.open.operation.number != wait.operation.number) close(of, of.open);
  append(of.open, wait);
}

Instance& Instances::scattered(OfMetric& of, std::uint64_t number) {
  if (const auto known = of.numbers.find(number); known != of.numbers.end()) {
    return of.scattered[known->second];
  }
  if (of.scattered.size() < most_open_) {
    of.numbers.emplace(number, of.scattered.size());
    return of.scattered.emplace_back();
  }
  Instance& oldest = of.scattered[of.oldest];
  auto entry = of.numbers.extract(oldest.operation.number);
  close(of, oldest);
  entry.key() = number;
  of.numbers.insert(std::move(entry));
  if (++of.oldest == most_open_) of.oldest = 0;
  return oldest;
}

// Leaves the instance empty, with or without another's memory.
void Instances::close(OfMetric& of, Instance& instance) {
  if (instance.waiters.empty()) return;
  const auto [place, first] =
      of_places_.try_emplace(WaitResults::place(instance.metric, longest_of(instance).call_path));
  if (first || worse(instance, place->second)) {
    place->second = instance;
    list_longest(place->second);
  }
  if (of.worst.size() < limit_) {
    list_longest(instance);
    of.worst.push_back(std::move(instance));
    std::push_heap(of.worst.begin(), of.worst.end(), worse);
  } else if (worse(instance, of.worst.front())) {
    list_longest(instance);
    std::pop_heap(of.worst.begin(), of.worst.end(), worse);
    std::swap(of.worst.back(), instance);
    std::push_heap(of.worst.begin(), of.worst.end(), worse);
  }
  instance.waiters.clear();
}

void Instances::count_partner(const Wait& wait) {
  const Key key{WaitResults::place(wait.metric, wait.call_path), wait.ended_by.location,
                wait.ended_by.call_path, wait.ended_by.at_exit,
                may_be_moved(wait.metric) ? wait.location : kNoLocation};
  if (last_partner_ == nullptr || key != last_key_) {
    last_key_ = key;
    last_partner_ = &partners_[key];
  }
  last_partner_->add(wait.waiting.value);
}

// Those that took places of others do not give them back, but for the worst of each place.
void Instances::leave_out_moved(WaitResults& results) const {
  std::erase_if(results.of_places, [&](const Instance& i) { return moved(i); });
  std::set<MetricIndex> fewer;
  std::erase_if(results.worst, [&](const Instance& i) {
    if (!moved(i)) return false;
    fewer.insert(i.metric);
    return true;
  });
  std::vector<Instance> worst;
  for (const MetricIndex metric : fewer) {
    const auto of_metric = [&](const Instance& i) { return i.metric == metric; };
    worst.clear();
    std::copy_if(results.worst.begin(), results.worst.end(), std::back_inserter(worst), of_metric);
    std::erase_if(results.worst, of_metric);
    for (const Instance& i : results.of_places) {
      const auto same = [&](const Instance& w) { return w.operation == i.operation; };
      if (of_metric(i) && std::none_of(worst.begin(), worst.end(), same)) worst.push_back(i);
    }
    std::sort(worst.begin(), worst.end(), worse);
    if (worst.size() > limit_) worst.resize(limit_);
    std::move(worst.begin(), worst.end(), std::back_inserter(results.worst));
  }
  std::stable_sort(results.worst.begin(), results.worst.end(),
                   [](const Instance& a, const Instance& b) { return a.metric < b.metric; });
}

void Instances::close_all() {
  for (OfMetric& of : metrics_) {
    close(of, of.open);
    for (Instance& instance : of.scattered) close(of, instance);
    of.scattered.clear();
    of.numbers.clear();
    of.oldest = 0;
  }
}

void Instances::add(Instances& other, std::span<const CallPathIndex> paths) {
  close_all();
  other.close_all();
  ++parts_;  // of equal ones those of the parts before are the worse
  const auto take = [&](Instance& instance) {
    instance.part = parts_;
    for (Waiter& w : instance.waiters) {
      w.call_path = paths[w.call_path];
      if (w.ended_by.location != kNoLocation) w.ended_by.call_path = paths[w.ended_by.call_path];
    }
  };
  if (metrics_.size() < other.metrics_.size()) metrics_.resize(other.metrics_.size());
  for (std::size_t m = 0; m < other.metrics_.size(); ++m) {
    std::vector<Instance>& worst = metrics_[m].worst;
    for (Instance& instance : other.metrics_[m].worst) {
      take(instance);
      worst.push_back(std::move(instance));
      std::push_heap(worst.begin(), worst.end(), worse);
      if (worst.size() <= limit_) continue;
      std::pop_heap(worst.begin(), worst.end(), worse);
      worst.pop_back();
    }
  }
  for (auto& [theirs, instance] : other.of_places_) {
    take(instance);
    const auto metric = static_cast<MetricIndex>(theirs >> 32);
    const auto path = static_cast<CallPathIndex>(theirs);
    const auto [at, first] =
        of_places_.try_emplace(WaitResults::place(metric, paths[path]), instance);
    if (!first && worse(instance, at->second)) at->second = std::move(instance);
  }
  last_partner_ = nullptr;
  for (const auto& [key, waited] : other.partners_) {
    Key ours = key;
    ours.place = WaitResults::place(static_cast<MetricIndex>(key.place >> 32),
                                    paths[static_cast<CallPathIndex>(key.place)]);
    ours.call_path = paths[key.call_path];
    partners_[ours] += waited;
  }
  for (const auto& [window, path] : other.windows_) windows_.emplace(window, paths[path]);
  for (const auto& [comm, path] : other.communicators_) communicators_.emplace(comm, paths[path]);
  for (const auto& [number, path] : other.allocations_) allocations_.emplace(number, paths[path]);
}

WaitResults Instances::finish() {
  WaitResults results;
  close_all();
  for (OfMetric& of : metrics_) {
    std::sort(of.worst.begin(), of.worst.end(), worse);
    std::move(of.worst.begin(), of.worst.end(), std::back_inserter(results.worst));
  }
  for (auto& [place, instance] : of_places_) results.of_places.push_back(std::move(instance));
  if (!moved_.empty()) leave_out_moved(results);
  std::sort(results.of_places.begin(), results.of_places.end(), worse);
  if (results.of_places.size() > kPlaces) results.of_places.resize(kPlaces);
  std::stable_sort(results.of_places.begin(), results.of_places.end(),
                   [](const Instance& a, const Instance& b) { return a.metric < b.metric; });
  for (const auto& [of, waited] : partners_) {
    const auto& key = of;  // (No lambda takes part of a pair.)
    const auto metric = static_cast<MetricIndex>(key.place >> 32);
    const auto path = static_cast<CallPathIndex>(key.place);
    if (!moved_.empty() && moved_.contains({metric, path, key.waiter})) continue;
    std::vector<Partner>& partners = results.partners[key.place];
    const auto same = std::find_if(partners.begin(), partners.end(), [&](const Partner& p) {
      return p.location == key.location && p.call_path == key.call_path && p.at_exit == key.at_exit;
    });
    if (may_be_moved(metric) && same != partners.end()) {
      same->waited += waited;
    } else {
      partners.push_back({key.location, key.call_path, key.at_exit, waited});
    }
  }
  for (auto& [place, partners] : results.partners) {
    std::sort(partners.begin(), partners.end(), [](const Partner& a, const Partner& b) {
      if (a.waited != b.waited) return a.waited > b.waited;
      return std::tuple(a.location, a.call_path, a.at_exit) <
             std::tuple(b.location, b.call_path, b.at_exit);
    });
  }
  metrics_.clear();
  results.windows = std::move(windows_);
  results.communicators = std::move(communicators_);
  results.allocations = std::move(allocations_);
  return results;
}

}  // namespace kojak::expert

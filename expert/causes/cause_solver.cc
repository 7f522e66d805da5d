#include "expert/causes/cause_solver.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kojak::expert {
namespace {

// Adds to the one that is alike, or behind all.
template <class Of>
void add_to(std::vector<std::pair<Of, Amount>>& sums, const Of& of, Amount amount,
            std::size_t most) {
  const auto known =
      std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == of; });
  if (known != sums.end()) {
    known->second += amount;
  } else if (sums.size() < most) {
    sums.emplace_back(of, amount);
  }
}

}  // namespace

bool CauseSolver::ask(const std::function<CauseRequest(std::size_t)>& request_of,
                      const std::function<void(std::size_t, CauseAnswer&)>& take) {
  const std::size_t others = parts_.size() - 1;
  for (std::size_t k = 0; k < others; ++k) others_->ask(k, request_of(k));
  CauseAnswer answer = part_.answer(request_of(others));
  take(others, answer);
  for (std::size_t k = others; k-- > 0;) {
    CauseAnswer told;
    if (!others_->hear(k, told)) return false;
    take(k, told);
  }
  return true;
}

RootCauses CauseSolver::solve(std::vector<CauseRequest::Asked> asked) {
  RootCauses results;
  results.asked.resize(asked.size());
  const CauseRequest request{.kind = CauseRequest::Kind::kSums, .asked = std::move(asked)};
  std::string why;
  const auto take = [&](std::size_t k, CauseAnswer& answer) {
    CauseSums& sums = answer.sums;
    for (std::size_t i = 0; i < numbered_.size(); ++i) numbered_[i] += sums.numbered[i];
    if (why.empty()) why = sums.why();
    if (why.empty()) add(k, sums, results);
  };
  if (!ask([&](std::size_t) { return request; }, take)) return {};
  if (others_ != nullptr) {
    if (*std::max_element(numbered_.begin(), numbered_.end()) >= most_)
      why = "it has more waits than can be numbered";
    if (!why.empty()) {
      others_->give_up(why);
      return {};
    }
  }
  results.waits = in_seconds(all_);
  results.unexplained = in_seconds(unexplained_);
  if (!list(results) || !follow_critical_path(results)) return {};
  if (log_.full) {
    results.until = log_.seconds_at(*std::max_element(ends_.begin(), ends_.end()));
  }
  return results;
}

void CauseSolver::number_stretches(std::size_t part, const std::vector<Stretch>& stretches) {
  OfPart& of = parts_[part];
  const auto here = [&](CallPathIndex of_part) { return path(part, of_part); };
  for (const Stretch& s : stretches) {
    StretchId number = Stretches::kBeforeRecording;
    switch (s.kind) {
      case Stretch::Kind::kBeforeRecording:
        break;
      case Stretch::Kind::kComputing:
        number = stretches_.computing(here(s.path), here(s.before), here(s.after));
        break;
      case Stretch::Kind::kCall:
        number = stretches_.call(here(s.path));
        break;
      case Stretch::Kind::kOverhead:
        number = stretches_.overhead(here(s.path));
        break;
      case Stretch::Kind::kStarting:
        number = stretches_.starting(here(s.path));
        break;
      case Stretch::Kind::kAnswering:
        number = stretches_.answering(here(s.path), s.whom);
        break;
    }
    of.in_part.emplace(number, static_cast<StretchId>(of.in_run.size()));
    of.in_run.push_back(number);
  }
}

void CauseSolver::here(std::size_t part, Chain& chain) const {
  for (ChainLink& link : chain.links) link.call_path = path(part, link.call_path);
  Stretch& s = chain.stretch;
  s.path = path(part, s.path);
  s.before = path(part, s.before);
  s.after = path(part, s.after);
}

void CauseSolver::add(std::size_t part, CauseCost& cost) {
  for (auto& [at, amount] : cost.at) at.call_path = path(part, at.call_path);
  cost.stretch = parts_[part].in_run[cost.stretch];
  const std::uint32_t number = numbers_.number(cost.location, cost.stretch);
  if (number == costs_.size()) {
    cost.objects.resize(std::min(cost.objects.size(), kKept));
    cost.at.resize(std::min(cost.at.size(), kKept));
    costs_.push_back(std::move(cost));
    chain_in_.push_back(part);
    return;
  }
  CauseCost& all = costs_[number];
  for (const auto& [metric, cost_of] : cost.patterns) {
    CauseCost::Sums& to = CauseLedger::of_pattern(all.patterns, metric);
    to.short_term += cost_of.short_term;
    to.long_term += cost_of.long_term;
  }
  for (const auto& [object, amount] : cost.objects) add_to(all.objects, object, amount, kKept);
  for (const auto& [at, amount] : cost.at) add_to(all.at, at, amount, kKept);
  if (cost.most > all.most) {
    all.most = cost.most;
    all.via = cost.via;
    all.links = cost.links;
    all.from = cost.from;
    all.to = cost.to;
    chain_in_[number] = part;
  }
  all.longer += cost.longer;
  all.compared = all.compared || cost.compared;
}

// (Parts come from the last to the first: what is kept of a cause is what comes last.)
void CauseSolver::add(std::size_t part, CauseSums& sums, RootCauses& results) {
  number_stretches(part, sums.stretches);
  const OfPart& of = parts_[part];
  for (CauseCost& cost : sums.costs) add(part, cost);
  all_ += sums.waits;
  unexplained_ += sums.unexplained;
  for (const auto& u : sums.unexplained_at) {
    unexplained_at_[{u.location, path(part, u.call_path)}] += u.amount;
  }
  for (const auto& w : sums.waits_at) {
    auto& [direct, indirect] = waits_at_[{w.location, path(part, w.call_path), w.metric}];
    direct += w.direct;
    indirect += w.indirect;
  }
  done_.resize(stretches_.size());
  for (const auto& t : sums.times) {
    const StretchId stretch = of.in_run[t.stretch];
    done_[stretch] += t.time;
    if (stretches_[stretch].kind != Stretch::Kind::kComputing) continue;
    done_by_all_.push_back({stretch, t.location, t.time});
  }
  for (const auto& found : sums.samples) {
    samples_[of.in_run[found.stretch]][found.location][found.site] += found.count;
  }
  for (std::size_t i = 0; i < sums.chains.size(); ++i) {
    if (!sums.chains[i]) continue;
    results.asked[i] = std::move(*sums.chains[i]);
    here(part, results.asked[i]);
  }
  if (part + 1 == parts_.size()) ends_ = std::move(sums.ends);
}

bool CauseSolver::list(RootCauses& results) {
  for (const auto& [at, amount] : unexplained_at_) {
    results.unexplained_at.push_back({at.first, at.second, in_seconds(amount)});
  }
  for (const auto& [at, sums] : waits_at_) {
    const auto& [location, path, metric] = at;
    results.waits_at.push_back(
        {location, path, metric, in_seconds(sums.first), in_seconds(sums.second)});
  }
  std::vector<ListedCause> listed;
  for (std::uint32_t number = 0; number < costs_.size(); ++number) {
    const CauseCost& cost = costs_[number];
    RootCause cause;
    cause.location = cost.location;
    cause.id = cost.stretch;
    cause.stretch = stretches_[cause.id];
    cause.longer = in_seconds(Amount{cost.longer});
    cause.compared = cost.compared;
    Amount sum = 0;
    for (const auto& [metric, part] : cost.patterns) {
      sum += part.short_term + part.long_term;
      cause.patterns.push_back({metric, in_seconds(part.short_term), in_seconds(part.long_term)});
    }
    if (sum == 0) continue;
    cause.seconds = in_seconds(sum);
    for (const auto& [object, amount] : cost.objects) {
      cause.objects.push_back({object.object, object.id, in_seconds(amount)});
    }
    std::sort(cause.patterns.begin(), cause.patterns.end(),
              [](const CostOfPattern& a, const CostOfPattern& b) {
                const double x = a.short_term + a.long_term, y = b.short_term + b.long_term;
                return x != y ? x > y : a.metric < b.metric;
              });
    std::sort(cause.objects.begin(), cause.objects.end(),
              [](const CostOfObject& a, const CostOfObject& b) {
                return std::tuple(-a.seconds, a.object, a.id) <
                       std::tuple(-b.seconds, b.object, b.id);
              });
    listed.push_back({std::move(cause), number});
  }
  const auto sort = [](std::span<ListedCause> causes) {
    std::sort(causes.begin(), causes.end(), [](const ListedCause& x, const ListedCause& y) {
      const RootCause &a = x.cause, &b = y.cause;
      if (a.gain != b.gain) return a.gain > b.gain;
      if (a.seconds != b.seconds) return a.seconds > b.seconds;
      return std::tuple(a.location, a.stretch.place(), a.stretch.kind) <
             std::tuple(b.location, b.stretch.place(), b.stretch.kind);
    });
  };
  sort(listed);
  std::vector<StretchId> computing;
  std::vector<bool> known(stretches_.size());
  for (const ListedCause& l : listed) {
    const StretchId stretch = l.cause.id;
    if (l.cause.stretch.kind != Stretch::Kind::kComputing || known[stretch]) continue;
    if (computing.size() == kStretches) break;
    known[stretch] = true;
    computing.push_back(stretch);
  }
  list_times(results, computing);
  list_samples(listed, computing);
  const std::span<ListedCause> largest =
      std::span(listed).first(std::min(listed.size(), kMostGains));
  if (!find_groups(listed, largest, results.groups)) return false;
  sort(largest);
  number_causes(listed, results.groups);
  if (!find_chains(listed)) return false;
  for (ListedCause& l : listed) results.causes.push_back(std::move(l.cause));
  return true;
}

bool CauseSolver::find_chains(std::span<ListedCause> listed) {
  std::vector<CauseRequest> requests(parts_.size(), {.kind = CauseRequest::Kind::kChains});
  std::vector<std::vector<RootCause*>> causes(parts_.size());
  std::size_t room = kAllLinks;
  for (ListedCause& l : listed.first(std::min(listed.size(), kChains))) {
    const CauseCost& cost = costs_[l.cost];
    const std::size_t part = chain_in_[l.cost];
    const std::size_t most = std::min(room, CauseChains::kMostLinks);
    requests[part].chains.push_back({cost.location, parts_[part].in_part.at(cost.stretch), cost.via,
                                     cost.links, cost.from, cost.to, most});
    room -= std::min<std::size_t>(most, cost.links);
    causes[part].push_back(&l.cause);
  }
  return ask([&](std::size_t k) { return requests[k]; },
             [&](std::size_t k, CauseAnswer& answer) {
               for (std::size_t i = 0; i < causes[k].size() && i < answer.chains.size(); ++i) {
                 here(k, answer.chains[i]);
                 causes[k][i]->chain = std::move(answer.chains[i]);
               }
             });
}

void CauseSolver::list_times(RootCauses& results, const std::vector<StretchId>& wanted) {
  for (const StretchId stretch : wanted) done_by_[stretch];
  for (const CauseSums::Time& t : done_by_all_) {
    const auto known = done_by_.find(t.stretch);
    if (known != done_by_.end()) known->second[t.location] += t.time;
  }
  done_by_all_ = {};
  for (const StretchId stretch : wanted) {
    for (const auto& [location, time] : done_by_[stretch]) {
      const double seconds = in_seconds(Amount{time});
      results.times.push_back({stretches_[stretch], location, seconds});
      times_[std::uint64_t{location} << 32 | stretch] = seconds;
    }
  }
}

// Of each location's samples in the stretches those at places, and what the others have there.
void CauseSolver::list_samples(std::span<ListedCause> listed,
                               const std::vector<StretchId>& wanted) const {
  std::map<StretchId, std::map<CallSiteId, std::uint64_t>> all;
  for (const StretchId stretch : wanted) {
    const auto of = samples_.find(stretch);
    if (of == samples_.end()) continue;
    for (const auto& [location, sites] : of->second) {
      for (const auto& [site, count] : sites) all[stretch][site] += count;
    }
  }
  for (ListedCause& l : listed) {
    RootCause& cause = l.cause;
    const auto at = all.find(cause.id);
    if (at == all.end()) continue;
    const auto own = samples_.at(cause.id).find(cause.location);
    if (own == samples_.at(cause.id).end()) continue;
    const auto others = static_cast<double>(done_by_.at(cause.id).size()) - 1;
    for (const auto& [site, count] : own->second) {
      const std::uint64_t rest = at->second[site] - count;
      cause.sampled.push_back(
          {site, static_cast<double>(count), others > 0 ? static_cast<double>(rest) / others : 0});
    }
  }
}

bool CauseSolver::follow_critical_path(RootCauses& results) {
  if (ends_.empty()) return true;
  const auto last = std::max_element(ends_.begin(), ends_.end());
  results.path_length = in_seconds(Amount{*last});
  CauseRequest request{.kind = CauseRequest::Kind::kPath};
  request.path = {static_cast<LocationIndex>(last - ends_.begin()), *last, 0};
  std::map<std::pair<LocationIndex, StretchId>, Amount> shares;
  bool all_parts = true;  // so far
  std::vector<PathPart>& parts = results.path_parts;
  for (std::size_t k = parts_.size(); k-- > 0;) {
    CauseAnswer answer;
    if (k + 1 == parts_.size()) {
      answer = part_.answer(request);
    } else {
      others_->ask(k, request);
      if (!others_->hear(k, answer)) return false;
    }
    for (const auto& share : answer.path.shares) {
      shares[{share.location, parts_[k].in_run[share.stretch]}] += share.time;
    }
    for (const PathPart& part : answer.path.parts) {
      all_parts = all_parts && add_path_part(parts, part);
    }
    all_parts = all_parts && answer.path.all_parts;
    request.path = answer.path.goes_on;
  }
  std::reverse(parts.begin(), parts.end());
  // What the processes do of each stretch on the average, and what of it is on the path.
  std::vector<Amount> on_path(stretches_.size(), 0);
  for (const auto& [at, time] : shares) on_path[at.second] += time;
  for (const auto& [at, time] : shares) {
    const StretchId stretch = at.second;
    const double mean = in_seconds(done_[stretch]) / static_cast<double>(log_.workers());
    const double path = in_seconds(on_path[stretch]), seconds = in_seconds(time);
    results.critical_path.push_back(
        {at.first, stretches_[stretch], seconds, seconds * std::max(0.0, 1 - mean / path)});
  }
  std::sort(results.critical_path.begin(), results.critical_path.end(),
            [](const PathShare& a, const PathShare& b) {
              if (a.seconds != b.seconds) return a.seconds > b.seconds;
              return std::tuple(a.location, a.stretch.place(), a.stretch.kind) <
                     std::tuple(b.location, b.stretch.place(), b.stretch.kind);
            });
  return true;
}

}  // namespace kojak::expert

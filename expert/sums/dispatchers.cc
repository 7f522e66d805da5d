#include "expert/sums/dispatchers.h"

#include <algorithm>

#include "epilog/format/field_values.h"

namespace kojak::expert {
namespace {

bool has(const std::vector<ProcessId>& processes, ProcessId one) {
  return std::find(processes.begin(), processes.end(), one) != processes.end();
}

}  // namespace

Dispatchers::Dispatchers(const Setting& setting)
    : trace_(setting.trace), sites_(setting.locations()), first_(setting.locations()) {
  for (LocationIndex l = 0; l < first_.size(); ++l) {
    first_[l] = trace_.main_index(trace_.process(l)) == l;
    threads_ = threads_ || !first_[l];
  }
  if (threads_) thread_lives_.resize(first_.size());
}

Dispatchers::Site& Dispatchers::site(LocationIndex location, CallPathIndex path) {
  std::vector<Site>& sites = sites_[location];
  const auto known =
      std::find_if(sites.begin(), sites.end(), [path](const Site& s) { return s.path == path; });
  if (known != sites.end()) return *known;
  sites.emplace_back().path = path;
  return sites.back();
}

void Dispatchers::on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
  for (const MpiPoll& m : series.members) {
    const bool any = raw(m.kind) == raw(PollKind::kMessage) && is_absent(m.plid);
    if (any && m.rid == call.region && m.csid == call.csite) site(call).any = true;
  }
}

void Dispatchers::polled(const earl::Call& call) {
  if (!first_[call.index]) site(call).polled += call.exit - call.enter;
}

void Dispatchers::found(const earl::OpenCall& call, ProcessId source, Seconds time, bool any) {
  Site& s = site(call);
  s.any = s.any || any;
  if (s.finds++ == 0) {
    s.first = time;
    if (std::find(serving_.begin(), serving_.end(), call.index) == serving_.end()) {
      serving_.push_back(call.index);
    }
  }
  s.last = time;
  if (s.call != call.enter_pos) s.unanswered.clear();
  s.call = call.enter_pos;
  s.unanswered.push_back(source);
  if (s.sources.size() < kSources && !has(s.sources, source)) s.sources.push_back(source);
  if (library_ != nullptr) note_answer(call, source, s);
}

Dispatchers::Below& Dispatchers::step(const earl::OpenCall& call) {
  Below& below = below_[call.index];
  if (below.call == call.enter_pos) return below;
  below.call = call.enter_pos;
  below.bounds.enter(raw(call.cnode), *library_);
  const CallPathIndex around = library_->around(raw(call.cnode));
  // Within a part of a run the call may have begun before, and where the next one at the same place
  // begins is not known either.
  below.sure = below.sure || (below.begun && around != below.around);
  below.begun = true;
  below.around = around;
  if (below.bounds.inside() == kNoCallPath) {
    below.asked.clear();
    below.asks.clear();
  }
  return below;
}

void Dispatchers::ask(const earl::OpenCall& call, ProcessId destination) {
  Below& below = step(call);
  if (below.around == kNoCallPath || has(below.asks, destination)) return;
  if (!has(below.asked, destination)) below.asked.push_back(destination);
}

void Dispatchers::note_answer(const earl::OpenCall& call, ProcessId source, Site& site) {
  Below& below = step(call);
  if (below.around == kNoCallPath) return;
  if (has(below.asked, source)) {
    ++site.answers;
    site.sure_answers += below.sure;
  } else if (!has(below.asks, source)) {
    below.asks.push_back(source);
  }
}

void Dispatchers::answer(ProcessId process, ProcessId destination) {
  for (const LocationIndex l : serving_) {
    if (trace_.process(l) != process) continue;
    for (Site& s : sites_[l]) {
      const auto one = std::find(s.unanswered.begin(), s.unanswered.end(), destination);
      if (one == s.unanswered.end()) continue;
      s.unanswered.erase(one);
      ++s.answered;
    }
  }
}

void Dispatchers::lived(const earl::Call& call) {
  Life& life = thread_lives_[call.index];
  life.begin = life.begun ? std::min(life.begin, call.enter) : call.enter;
  life.end = call.exit;
  life.begun = true;
}

void Dispatchers::bound_life(const earl::Call& call) {
  const std::uint32_t process = raw(call.process);
  if (process >= lives_.size()) lives_.resize(process + std::size_t{1});
  Life& life = lives_[process];
  if (call.role() == MpiRole::kInit) {
    life.begin = call.exit;
    life.begun = true;
  } else {
    life.end = call.enter;
    life.ended = true;
  }
}

bool Dispatchers::serves(const Site& s, const Life& life) const {
  if (!s.any || s.answers != 0 || s.finds < kFinds || s.sources.size() < kSources) return false;
  const Seconds begin = life.begun ? life.begin : begin_, end = life.ended ? life.end : end_;
  return 2 * s.answered >= s.finds && 2 * (s.last - s.first).value >= (end - begin).value;
}

void Dispatchers::add(const Dispatchers& other, std::span<const CallPathIndex> paths) {
  for (LocationIndex l = 0; l < sites_.size(); ++l) {
    for (const Site& theirs : other.sites_[l]) {
      Site& s = site(l, paths[theirs.path]);
      s.any = s.any || theirs.any;
      s.finds += theirs.finds;
      s.answered += theirs.answered;
      s.answers += theirs.answers;
      s.sure_answers += theirs.sure_answers;
      s.polled += theirs.polled;
      s.unanswered.insert(s.unanswered.end(), theirs.unanswered.begin(), theirs.unanswered.end());
      for (const ProcessId source : theirs.sources) {
        if (s.sources.size() < kSources && !has(s.sources, source)) s.sources.push_back(source);
      }
    }
  }
}

bool Dispatchers::none() const {
  const auto may = [](const Site& s) {
    const bool serves = s.any && s.sure_answers == 0 && s.finds >= kFinds &&
                        s.sources.size() >= kSources &&
                        2 * (s.answered + s.unanswered.size()) >= s.finds;
    return serves || s.polled.value > 0;
  };
  return std::none_of(sites_.begin(), sites_.end(), [&](const std::vector<Site>& sites) {
    return std::any_of(sites.begin(), sites.end(), may);
  });
}

std::vector<Dispatchers::Place> Dispatchers::finish(const SeverityStore& severities,
                                                    MetricIndex visits) const {
  std::vector<Place> places;
  for (LocationIndex l = 0; l < sites_.size(); ++l) {
    const std::uint32_t process = raw(trace_.process(l));
    const Life life = process < lives_.size() ? lives_[process] : Life{};
    for (const Site& s : sites_[l]) {
      const auto calls = severities.whole_row(visits, s.path);
      const auto callers = std::count_if(calls.begin(), calls.end(),
                                         [](std::int64_t visited) { return visited != 0; });
      const bool of_few = 2 * static_cast<std::size_t>(callers) <= sites_.size();
      bool serves_others = of_few && serves(s, life);
      if (!first_[l] && !serves_others && s.answers == 0) {
        const LocationIndex main = trace_.main_index(trace_.process(l));
        const bool alone = main >= calls.size() || calls[main] == 0;
        const Life& own = thread_lives_[l];
        serves_others = alone && s.polled.value > 0 &&
                        s.polled.value >= kOfThread * (own.end - own.begin).value;
      }
      if (serves_others) places.push_back({s.path, l});
    }
  }
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace kojak::expert

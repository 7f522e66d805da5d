#include "expert/causes/seen/stretch_times.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace kojak::expert {
namespace {

// How many do a stretch, and how long, as far as that is listed.
class Doers {
 public:
  explicit Doers(const std::vector<StretchTime>& times) {
    for (const StretchTime& t : times) {
      if (t.stretch.kind != Stretch::Kind::kComputing) continue;
      const auto [known, first] = places_.try_emplace(key_of(t.stretch), lists_.size());
      if (first) lists_.emplace_back();
      lists_[known->second].push_back(&t);
    }
  }
  std::size_t count(const Stretch& stretch) const {
    const auto* list = find(stretch);
    return list == nullptr ? 0 : list->size();
  }
  double seconds(const Stretch& stretch, LocationIndex location) const {
    const auto* list = find(stretch);
    if (list == nullptr) return 0;
    for (const StretchTime* t : *list) {
      if (t->location == location) return t->seconds;
    }
    return 0;
  }

 private:
  using List = std::vector<const StretchTime*>;
  static Between key_of(const Stretch& s) { return {s.path, s.before, s.after}; }
  const List* find(const Stretch& stretch) const {
    const auto known = places_.find(key_of(stretch));
    return known == places_.end() ? nullptr : &lists_[known->second];
  }
  std::unordered_map<Between, std::size_t, Between::Hash> places_;
  std::vector<List> lists_;
};

}  // namespace

void StretchTimes::on_processor(const earl::OpenCall& in, Seconds time,
                                const earl::ProcessorTimes& times) {
  const std::optional<NotRun> found = readings_[in.index].add(time, times);
  if (!found) return;
  const std::span<Ticks> sums = sums_.now(in.index);
  if (sums.empty()) return;
  sums[kNoProcessor] += in_ticks(found->no_processor);
  sums[found->known ? static_cast<std::size_t>(found->kind) : kUnknown] += in_ticks(found->blocked);
}

void StretchTimes::add_to(RootCauses& causes) {
  sums_.finish();
  const Doers doers(causes.times);
  for (RootCause& cause : causes.causes) {
    if (cause.stretch.kind != Stretch::Kind::kComputing || !looked_at_[cause.location]) continue;
    Spending spent{.ran = cause.longer};
    const std::span<const StretchSums<Ticks>::Row> rows = sums_.rows(cause.stretch);
    std::array<Amount, kValues> sums_of_own{}, sums_of_others{};
    for (const StretchSums<Ticks>::Row& row : rows) {
      auto& to = row.location == cause.location ? sums_of_own : sums_of_others;
      for (std::size_t i = 0; i < kValues; ++i) to[i] += sums_.values(row)[i];
    }
    std::array<double, kValues> own{}, others{};
    for (std::size_t i = 0; i < kValues; ++i) {
      own[i] = in_seconds(sums_of_own[i]);
      others[i] = in_seconds(sums_of_others[i]);
    }
    if (std::accumulate(own.begin(), own.end(), 0.0) > 0) {
      const std::size_t count = std::max(doers.count(cause.stretch), rows.size());
      const double whole = doers.seconds(cause.stretch, cause.location);
      double all = 0;
      for (std::size_t i = 0; i < kValues; ++i) {
        if (cause.compared && count > 1) {
          own[i] = std::max(own[i] - others[i] / static_cast<double>(count - 1), 0.0);
        } else if (whole > cause.longer) {
          own[i] *= cause.longer / whole;
        }
        all += own[i];
      }
      if (all > cause.longer) {
        for (double& part : own) part *= cause.longer / all;
        all = cause.longer;
      }
      const auto first = own.begin() + 1, last = own.begin() + kBlockedKinds;
      spent.ran = cause.longer - all;
      spent.no_processor = own[kNoProcessor];
      spent.blocked = std::accumulate(first, last, 0.0);
      if (spent.blocked > 0) {
        spent.kind = static_cast<BlockedKind>(std::max_element(first, last) - own.begin());
      }
      if (own[kUnknown] > spent.ran + spent.no_processor + spent.blocked) continue;
      spent.blocked += own[kUnknown];
    }
    cause.spent = spent;
  }
}

}  // namespace kojak::expert

#include "expert/findings/group_words.h"

#include <algorithm>
#include <array>
#include <map>

#include "epilog/format/text/counts.h"
#include "expert/findings/bar.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/numbers.h"
#include "expert/findings/rules.h"
#include "expert/findings/short_names.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/what_if.h"
#include "expert/sums/samples.h"

namespace kojak::expert {
namespace {

struct Line {
  std::string file;  // without folders
  std::uint32_t line = 0;
};

Line line_of(const Report& report, CallSiteId id) {
  const Definitions& definitions = report.definitions();
  const CallSiteDef* site = is_absent(id) ? nullptr : definitions.call_sites.find(id);
  if (site == nullptr || is_absent(site->line)) return {};
  const std::string* file = definitions.files.find(site->file);
  if (file == nullptr || file->empty()) return {};
  return {file->substr(file->rfind('/') + 1), raw(site->line)};
}

std::string words_of(const Line& line) {
  return line.line == 0 ? std::string() : line.file + ':' + std::to_string(line.line);
}

CallSiteId site_of(const Report& report, CallPathIndex call) {
  const std::size_t path = call == kNoCallPath ? kNone : report.path_at(call);
  return path == kNone ? absent<CallSiteId>() : report.program_site(path);
}

// Whether the call was made from the function itself.
bool is_in(const Report& report, CallSiteId id, RegionId function) {
  const CallSiteDef* site = is_absent(id) ? nullptr : report.definitions().call_sites.find(id);
  return site != nullptr && report.region_name(site->left) == report.region_name(function);
}

std::string file_of(const Report& report, RegionId function) {
  const RegionDef* region = report.definitions().regions.find(function);
  if (region == nullptr || region->file.empty()) return {};
  return region->file.substr(region->file.rfind('/') + 1);
}

}  // namespace

std::optional<Spending> spending_of(const Report& report, const CauseGroup& group) {
  if (!report.root_causes() || group.kind != Stretch::Kind::kComputing) return std::nullopt;
  Spending sum;
  double known = 0, unknown = 0;
  std::array<double, kBlockedKinds> blocked{};
  for (const std::uint32_t c : group.causes) {
    const RootCause& cause = report.root_causes()->causes[c];
    if (!cause.spent) {
      unknown += cause.longer;
      continue;
    }
    known += cause.longer;
    sum.ran += cause.spent->ran;
    sum.blocked += cause.spent->blocked;
    sum.no_processor += cause.spent->no_processor;
    blocked[static_cast<std::size_t>(cause.spent->kind)] += cause.spent->blocked;
  }
  if (!(known > 0) || unknown > known) return std::nullopt;
  // Of some causes a part is the group's.
  const double part = in_seconds(group.longer) / known;
  sum.ran *= part;
  sum.blocked *= part;
  sum.no_processor *= part;
  sum.kind =
      static_cast<BlockedKind>(std::max_element(blocked.begin(), blocked.end()) - blocked.begin());
  return sum;
}

double without_processor_of(const Report& report, const CauseGroup& group) {
  if (const std::optional<Spending> spent = spending_of(report, group)) return spent->no_processor;
  double seconds = 0;
  if (!(group.amount > 0) || report.processors().threads.empty()) return seconds;
  const std::vector<OutsideOfCalls> outside = outside_of_calls(report);
  for (const CauseGroup::Rank& r : group.ranks) {
    const std::size_t t = report.thread_at(r.location);
    if (t == kNone || !(outside[t].seconds > 0)) continue;
    const double part = in_seconds(r.makes_wait) / in_seconds(group.amount);
    seconds += outside[t].at_least / outside[t].seconds * part * in_seconds(group.longer);
  }
  return seconds;
}

double latest_of(const Report& report, const CauseGroup& group) {
  double latest = 0;
  if (!report.root_causes()) return latest;
  for (const std::uint32_t c : group.causes) {
    latest = std::max(latest, report.root_causes()->causes[c].longer);
  }
  return latest;
}

Spent spent_by(const Report& report, const CauseGroup& group) {
  const std::optional<Spending> spent = spending_of(report, group);
  if (spent && spent->most() == Spent::kBlocked) return Spent::kBlocked;
  // What samples found was computed, with a processor or, for a while, without.
  if (!is_absent(group.place)) return Spent::kComputing;
  if (spent) return spent->most();
  const double longer = in_seconds(group.longer);
  const bool had_none = longer > 0 && 2 * without_processor_of(report, group) > longer;
  return had_none ? Spent::kNoProcessor : Spent::kOutside;
}

std::string function_words(const Report& report, RegionId function) {
  if (is_absent(function)) return {};
  constexpr std::size_t kRoom = 48;
  const std::string name = shortened_name(report.region_name(function), kRoom);
  return name.empty() || name.back() == ')' || name.back() == '>' ? name : name + "()";
}

std::string call_words(const Report& report, CallPathIndex call) {
  const std::size_t path = call == kNoCallPath ? kNone : report.path_at(call);
  if (path == kNone) return "a call";
  const std::string name = function_words(report, report.call_paths()[path].region);
  const std::string place = site_name(report.definitions(), report.call_paths()[path].site);
  return place.empty() ? name : name + " at " + place;
}

std::string lines_of(const Report& report, const CauseGroup& group) {
  if (!is_absent(group.place)) return site_name(report.definitions(), group.place);
  if (group.kind == Stretch::Kind::kCall) {
    return site_name(report.definitions(), site_of(report, group.stretch.path));
  }
  if (is_absent(group.function)) return {};
  const CallSiteId before_site = site_of(report, group.stretch.before);
  const CallSiteId after_site = site_of(report, group.stretch.after);
  const bool first = is_in(report, before_site, group.function);
  const bool last = is_in(report, after_site, group.function);
  const Line before = first ? line_of(report, before_site) : Line{};
  const Line after = last ? line_of(report, after_site) : Line{};
  if (before.line != 0 && after.line != 0 && before.file == after.file) {
    if (before.line == after.line) return words_of(after);
    const std::string begin = words_of(before);
    return before.line < after.line ? begin + '-' + std::to_string(after.line)
                                    : begin + " round to " + std::to_string(after.line);
  }
  if (after.line != 0) return words_of(after);
  if (before.line != 0) return words_of(before);
  return file_of(report, group.function);
}

namespace {

std::string where_words(const Report& report, const CauseGroup& group) {
  const std::string function = function_words(report, group.function);
  if (function.empty()) {
    if (group.stretch.before == kNoCallPath) {
      return group.stretch.after == kNoCallPath
                 ? "what it does"
                 : "what it does before " + call_words(report, group.stretch.after);
    }
    return "what it does after " + call_words(report, group.stretch.before);
  }
  const std::string lines = lines_of(report, group);
  std::string words = function;
  if (!lines.empty()) {
    words += lines.find(':') == std::string::npos ? " (" + lines + ')' : " at " + lines;
  }
  const std::string from = from_words(report, group, false);
  return from.empty() ? words : words + ", " + from;
}

// What tells groups apart that are of one function: the call at their end; then its file.
std::string end_words(const Report& report, const CauseGroup& group) {
  if (group.kind != Stretch::Kind::kComputing) return {};
  return group.stretch.after == kNoCallPath ? ", at its end"
                                            : ", before " + call_words(report, group.stretch.after);
}
std::string whole_file(const Report& report, const CauseGroup& group) {
  const RegionDef* region = report.definitions().regions.find(group.function);
  return region == nullptr || region->file.empty() ? std::string() : " (" + region->file + ')';
}

// With what tells it from another group of the report that has the same words and ranks.
template <class Words>
std::string told_apart(const Report& report, const CauseGroup& group, Words words_of) {
  std::string words = words_of(report, group);
  if (!report.root_causes() || is_absent(group.function)) return words;
  const std::vector<CauseGroup>& listed = report.root_causes()->groups.listed;
  const auto is_it = [&](const CauseGroup& g) { return &g == &group; };
  if (std::none_of(listed.begin(), listed.end(), is_it)) return words;
  std::vector<const CauseGroup*> same;
  for (const CauseGroup& g : listed) {
    const bool alike = !is_it(g) && g.kind == group.kind && words_of(report, g) == words &&
                       who_column(report, g) == who_column(report, group);
    if (alike) same.push_back(&g);
  }
  for (const auto more : {end_words, whole_file}) {
    if (same.empty()) break;
    const std::string own = more(report, group);
    words += own;
    std::erase_if(same, [&](const CauseGroup* g) { return more(report, *g) != own; });
  }
  return words;
}

}  // namespace

std::string where_of(const Report& report, const CauseGroup& group) {
  return told_apart(report, group, where_words);
}

std::string from_words(const Report& report, const CauseGroup& group, bool with_line) {
  if (is_absent(group.caller.function)) return {};
  std::string words = "from " + function_words(report, group.caller.function);
  const std::string line = with_line ? site_name(report.definitions(), group.caller.call) : "";
  return line.empty() ? words : words + ' ' + line;
}

std::string answered_words(const Report& report, const CauseGroup& group) {
  const std::vector<RootCause>& causes = report.root_causes()->causes;
  const bool one = std::all_of(group.causes.begin(), group.causes.end(), [&](std::uint32_t cause) {
    return causes[cause].stretch.whom == group.stretch.whom;
  });
  return one ? those(report, {group.stretch.whom}) : std::string("others");
}

std::string answering_words(const Report& report, const CauseGroup& group) {
  const bool several = group.shape == CauseGroup::Shape::kFew && group.few.size() > 1;
  return who_column(report, group) +
         (several ? ", which serve, were answering " : ", which serves, was answering ") +
         answered_words(report, group);
}

namespace {

std::string what_words(const Report& report, const CauseGroup& group) {
  const std::vector<Deadlock>& deadlocks = report.last_calls().deadlocks;
  if (group.deadlock < deadlocks.size()) {
    return "the deadlock";
  }
  if (group.spread == CauseGroup::Spread::kPhase) {
    return from_words(report, group, true) + ", " +
           counted(group.functions, "function", "functions");
  }
  if (group.spread == CauseGroup::Spread::kKind) {
    return "spread over " + counted(group.functions, "function", "functions");
  }
  switch (group.kind) {
    case Stretch::Kind::kBeforeRecording:
      return "starts " + short_time(latest_of(report, group)) + " later";
    case Stretch::Kind::kStarting:
      return "starts " + short_time(latest_of(report, group)) + " later in " +
             call_words(report, group.stretch.path);
    case Stretch::Kind::kAnswering:
      return "answering " + answered_words(report, group);
    case Stretch::Kind::kOverhead:
      return "the measurement itself";
    default:
      break;
  }
  std::string words = function_words(report, group.function);
  if (words.empty()) {
    if (group.stretch.before == kNoCallPath) {
      return "before " + call_words(report, group.stretch.after);
    }
    // What is after one call may be before several, which are groups of their own.
    const std::string after = call_words(report, group.stretch.before);
    const std::string before =
        group.stretch.after == kNoCallPath ? "" : call_words(report, group.stretch.after);
    return "after " + after +
           (before.empty() || before == after ? std::string() : ", before " + before);
  }
  if (const std::string lines = lines_of(report, group); !lines.empty()) words += ' ' + lines;
  if (group.kind == Stretch::Kind::kCall) words += " itself";
  const std::string from = from_words(report, group, false);
  return from.empty() ? words : words + ", " + from;
}

}  // namespace

std::string what_column(const Report& report, const CauseGroup& group) {
  return told_apart(report, group, what_words);
}

std::string counted_processes(const Report& report, std::size_t count) {
  const std::string& word = report.process_word();
  return counted(count, word.c_str(), (word + 's').c_str());
}

std::string those(const Report& report, std::vector<LocationIndex> locations) {
  std::sort(locations.begin(), locations.end());
  const std::string word = report.process_word() + ' ';
  std::vector<std::uint32_t> ranks;
  bool threads = false;
  std::string names;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const std::size_t thread = report.thread_at(locations[i]);
    const std::string name = thread == kNone ? "a process" : report.thread_name(thread);
    names += (i == 0 ? "" : i + 1 == locations.size() ? " and " : ", ") + name;
    if (!name.starts_with(word) || name.find(',') != std::string::npos) {
      threads = true;
      continue;
    }
    ranks.push_back(static_cast<std::uint32_t>(std::stoul(name.substr(word.size()))));
  }
  if (threads || ranks.empty()) return names;
  std::sort(ranks.begin(), ranks.end());
  return rank_list(ranks, report.process_word());
}

std::string units_words(const Report& report, const CauseGroup& group) {
  const std::vector<CauseGroup::Unit>& units = group.units;
  if (group.shape != CauseGroup::Shape::kPairs || units.empty()) {
    return counted_processes(report, units.size());
  }
  const std::size_t size = units.front().members.size();
  if (size > 2) {
    return grouped(units.size()) + " groups of " + std::to_string(size) + ' ' +
           report.process_word() + 's';
  }
  const bool neighbours = std::all_of(units.begin(), units.end(), [&](const CauseGroup::Unit& u) {
    const auto rank = [&](LocationIndex l) {
      const LocationDef* def =
          report.definitions().locations.find(report.thread_location(report.thread_at(l)));
      return def == nullptr ? std::int64_t{l} : std::int64_t{raw(def->process)};
    };
    const std::int64_t apart = rank(u.members[1]) - rank(u.members[0]);
    return apart == 1 || apart == -1;
  });
  return grouped(units.size()) +
         (neighbours ? " pairs of neighbours" : " pairs of " + report.process_word() + 's');
}

std::string who_column(const Report& report, const CauseGroup& group) {
  const std::vector<Deadlock>& deadlocks = report.last_calls().deadlocks;
  if (group.deadlock < deadlocks.size())
    return rank_list(deadlocks[group.deadlock].ranks, report.process_word());
  std::vector<LocationIndex> few;
  switch (group.shape) {
    case CauseGroup::Shape::kFew:
      for (const std::uint32_t r : group.few) few.push_back(group.ranks[r].location);
      return few.empty() ? those(report, {group.largest}) : those(report, few);
    case CauseGroup::Shape::kPairs:
      return grouped(group.units.size()) +
             (group.units.front().members.size() > 2 ? " groups" : " pairs");
    default:
      return counted_processes(report, group.units.size());
  }
}

std::vector<LocationIndex> victims_of(const CauseGroup& group) {
  std::vector<const CauseGroup::Rank*> waiting;
  Amount most = 0;
  for (const CauseGroup::Rank& r : group.ranks) most = std::max(most, r.waits);
  for (const CauseGroup::Rank& r : group.ranks) {
    if (r.waits > 0 && r.waits * kOneInVictims >= most) waiting.push_back(&r);
  }
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const auto* a, const auto* b) { return a->waits > b->waits; });
  std::vector<LocationIndex> victims;
  for (const CauseGroup::Rank* r : waiting) victims.push_back(r->location);
  return victims;
}

std::string victims_words(const Report& report, const CauseGroup& group, bool named) {
  constexpr std::size_t kByName = 3;
  std::vector<LocationIndex> victims = victims_of(group);
  std::erase_if(victims, [&](LocationIndex l) {
    return std::any_of(group.few.begin(), group.few.end(),
                       [&](std::uint32_t r) { return group.ranks[r].location == l; });
  });
  const std::size_t others = report.threads() - std::min(report.threads(), group.few.size());
  if (victims.empty()) return "the others";
  if (victims.size() == others && others > 1) return "the others";
  if (victims.size() <= kByName && (named || victims.size() == 1)) return those(report, victims);
  return grouped(victims.size()) + " others";
}

std::optional<Gain> gain_to_say(const Report& report, double run,
                                const std::optional<Ticks>& gain) {
  const std::optional<double> seconds = gain_seconds(report, run, gain);
  if (!seconds) return std::nullopt;
  return Gain{*seconds, run > 0 && *seconds >= kGainToSay * run};
}

bool much_is_not_attributed(const Report& report) {
  const std::optional<RootCauses>& causes = report.root_causes();
  return causes && causes->waits > 0 && causes->unexplained >= kNotAttributedToSay * causes->waits;
}

const char* no_gain_words(const Report& report) {
  return much_is_not_attributed(report)
             ? "how much shorter the run would be without it is not known"
             : "removing it alone would not shorten the run";
}

const RootCause* most_costly(const Report& report, const CauseGroup& group) {
  const RootCause* most = nullptr;
  if (!report.root_causes()) return most;
  const std::vector<RootCause>& causes = report.root_causes()->causes;
  for (const std::uint32_t c : group.causes) {
    if (most == nullptr || causes[c].seconds > most->seconds) most = &causes[c];
  }
  return most;
}

const Chain* chain_of(const Report& report, const CauseGroup& group) {
  if (2 * group.direct >= group.amount) return nullptr;
  const RootCause* const most = most_costly(report, group);
  const bool tells = most != nullptr && most->chain.links.size() >= 2 && most->chain.left_out == 0;
  return tells ? &most->chain : nullptr;
}

MetricIndex main_pattern(const CauseGroup& group) {
  Amount all = 0;
  for (const auto& [metric, amount] : group.patterns) all += amount;
  if (group.patterns.empty() || 2 * group.patterns.front().second < all) return kNoMetric;
  return group.patterns.front().first;
}

}  // namespace kojak::expert

#include "expert/findings/cause_words.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "epilog/format/openmp_constructs.h"
#include "epilog/format/text/counts.h"
#include "expert/findings/bar.h"
#include "expert/findings/group_words.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/rules.h"
#include "expert/findings/wait_words.h"
#include "expert/patterns/catalogue.h"
#include "expert/sums/samples.h"

namespace kojak::expert {
namespace {

constexpr double kShown = 0.0005;  // less would read 0.000

std::string seconds(double value) {
  return fixed(value, 3) + " s";
}

// Where a call stands in the report's tree; null for none.
const CallPathNode* caller_of(const Report& report, CallPathIndex call) {
  const std::size_t path = call == kNoCallPath ? kNone : report.path_at(call);
  const std::size_t parent = path == kNone ? kNone : report.call_paths()[path].parent;
  return parent == kNone ? nullptr : &report.call_paths()[parent];
}

// The function that a call comes from, if only its call site tells. That says where the call is:
// what is computed before and behind it may lie in any other function, but for `main`.
std::string named_caller(const Report& report, CallPathIndex call) {
  const CallPathNode* const caller = caller_of(report, call);
  const bool named = caller != nullptr && caller->named;
  return named ? report.region_name(caller->region) : std::string();
}

// The function that computes, as far as it is known: a region that the trace has around it, or
// `main`. `before` and `after`: the functions of the calls around it by named_caller().
std::string function_of(const Report& report, const Stretch& stretch, const std::string& before,
                        const std::string& after) {
  for (const CallPathIndex call : {stretch.after, stretch.before}) {
    const CallPathNode* const caller = caller_of(report, call);
    // Else the program has left the region, or is on its way into another.
    if (caller == nullptr || !caller->has(stretch.path)) continue;
    // In a construct stands directly what the function does that begins it.
    const CallPathNode& node = report.call_paths()[report.path_at(call)];
    const RegionDef* region = report.definitions().regions.find(caller->region);
    const CallSiteDef* site =
        is_absent(node.site) ? nullptr : report.definitions().call_sites.find(node.site);
    const bool construct = region != nullptr && is_omp(region->type) && site != nullptr;
    return report.region_name(construct && !is_absent(site->left) ? site->left : caller->region);
  }
  const std::size_t path = stretch.path == kNoCallPath ? kNone : report.path_at(stretch.path);
  if (path == kNone) return {};
  const CallPathNode& region = report.call_paths()[path];
  const bool program = region.parent == kNone;
  if (!program || (before.empty() && after.empty())) return report.region_name(region.region);
  // (That of a script may be left and called again.)
  constexpr std::string_view kMain = "main";
  const bool main = !report.has_script() && (before == kMain || stretch.before == kNoCallPath) &&
                    (after == kMain || stretch.after == kNoCallPath);
  return main ? std::string(kMain) : std::string();
}

// "halo.c:39", or the call's name where its place is not known, or the name says more.
std::string call_place(const Report& report, CallPathIndex call) {
  const std::size_t path = report.path_at(call);
  const bool library = path != kNone && report.is_library_function(path);
  const std::string site = path == kNone || library ? std::string() : report.call_site(path);
  return site.empty() ? call_name(report, call) : site;
}

struct StretchWords {
  std::string function;  // that computes; empty if it is not known
  std::string when;      // "between halo.c:39 and halo.c:44"
};

StretchWords computing_words(const Report& report, const Stretch& stretch, bool short_form,
                             const std::string& sampled) {
  const bool first = stretch.before == kNoCallPath, last = stretch.after == kNoCallPath;
  std::string before = named_caller(report, stretch.before);
  std::string after = named_caller(report, stretch.after);
  StretchWords words;
  words.function = sampled.empty() ? function_of(report, stretch, before, after) : sampled;
  // What is known better needs no other functions.
  for (std::string* caller : {&before, &after}) {
    if (!sampled.empty() || *caller == words.function) caller->clear();
  }
  const bool both = !first && !last && before == after && !before.empty();
  const auto call = [&](CallPathIndex at, const std::string& caller) {
    std::string named = (first || last || !short_form ? call_name : call_place)(report, at);
    if (!both && !caller.empty()) named += " (in " + caller + ')';
    return named;
  };
  if (first && last) {
    words.when = "from its first to its last event";
  } else if (first) {
    words.when = "before " + call(stretch.after, after);
  } else if (last) {
    words.when = "after " + call(stretch.before, before);
  } else {
    words.when = "between " + call(stretch.before, before) + " and " + call(stretch.after, after);
    if (both) words.when += " (both in " + before + ')';
  }
  return words;
}

// The function that its samples tell, at the line with the most of them if it has lines.
std::string sampled_words(const Report& report, const RootCause& cause) {
  if (cause.sampled.empty()) return {};
  return function_at(report, cause.sampled.front().site);
}

std::string who(const Report& report, LocationIndex location) {
  const std::size_t thread = location == kNoLocation ? kNone : report.thread_at(location);
  return thread == kNone ? "a process" : report.thread_name(thread);
}
// The same when "rank" has been said: "4", in a run with threads "rank 4, thread 1".
std::string number(const Report& report, LocationIndex location) {
  const std::string name = who(report, location);
  const std::string word = report.process_word() + ' ';
  const bool rank_only = name.starts_with(word) && name.find(',') == std::string::npos;
  return rank_only ? name.substr(word.size()) : name;
}

}  // namespace

std::string stretch_name(const Report& report, const Stretch& stretch) {
  switch (stretch.kind) {
    case Stretch::Kind::kBeforeRecording:
      return "before its first event";
    case Stretch::Kind::kCall:
    case Stretch::Kind::kOverhead:
      return call_name(report, stretch.path);
    case Stretch::Kind::kStarting:
      return "starting in " + call_name(report, stretch.path);
    case Stretch::Kind::kAnswering:
      return "answering " + who(report, stretch.whom);
    case Stretch::Kind::kComputing:
      break;
  }
  const StretchWords words = computing_words(report, stretch, false, {});
  return words.function.empty() ? words.when : words.function + ", " + words.when;
}

namespace {

constexpr double kAlike = 0.1;  // counts that differ by less are called alike

// "2.1", "0.35"
std::string ratio_words(double ratio) {
  return fixed(ratio, ratio < 1 ? 2 : 1);
}

// "1.20 instructions per cycle"; empty where there were no cycles.
std::string per_cycle(double instructions, double cycles) {
  return cycles > 0 ? fixed(instructions / cycles, 2) : std::string();
}

// Whether it had more to do, or took longer for the same: no more than what was counted.
std::string counter_words(const Report& report, const RootCause& cause) {
  constexpr std::size_t kOthers = 2;  // so many other counters are named
  if (cause.counted.empty()) return {};
  std::vector<std::string> names;
  report.definitions().metrics.for_each(
      [&](MetricId, const MetricDef& def) { names.push_back(def.name); });
  const auto counter = [&](std::string_view name) -> const CountedThere* {
    for (const CountedThere& c : cause.counted) {
      if (names[c.counter] == name) return &c;
    }
    return nullptr;
  };
  std::string words;
  const CountedThere* const instructions = counter("PAPI_TOT_INS");
  const CountedThere* const cycles = counter("PAPI_TOT_CYC");
  if (instructions != nullptr && instructions->compared && instructions->others > 0) {
    const double more = instructions->own / instructions->others;
    words = std::abs(more - 1) < kAlike
                ? "it executes as many instructions as the others there"
                : "it executes " + ratio_words(more) +
                      " times the instructions that the others execute there";
  }
  if (instructions != nullptr && cycles != nullptr) {
    const std::string own = per_cycle(instructions->own, cycles->own);
    const std::string others =
        cycles->compared ? per_cycle(instructions->others, cycles->others) : std::string();
    if (!own.empty()) {
      words += (words.empty() ? "it executes " : ", ") + own + " instructions per cycle";
      if (!others.empty()) words += ", the others " + others;
    }
  }
  struct More {
    double ratio;
    const CountedThere* counter;
  };
  std::vector<More> more;
  for (const CountedThere& c : cause.counted) {
    if (&c == instructions || &c == cycles || !c.compared || c.own <= c.others * (1 + kAlike)) {
      continue;
    }
    more.push_back({c.others > 0 ? c.own / c.others : std::numeric_limits<double>::infinity(), &c});
  }
  std::stable_sort(more.begin(), more.end(),
                   [](const More& a, const More& b) { return a.ratio > b.ratio; });
  if (more.size() > kOthers) more.resize(kOthers);
  for (const More& m : more) {
    words += (words.empty() ? "" : ", ") + names[m.counter->counter] + ' ' +
             fixed(m.counter->own, 0) + " (the others " + fixed(m.counter->others, 0) + ')';
  }
  return words;
}

}  // namespace

namespace {

// What it did most. Without readings samples say that it computed.
Spent spent_by(const RootCause& cause) {
  if (cause.spent) return cause.spent->most();
  return cause.sampled.empty() ? Spent::kOutside : Spent::kComputing;
}

// " computes 0.110 s longer", " is blocked 0.300 s (sleeps)", " had no processor for 0.210 s of
// 0.300 s": what it did most, as far as that is known.
std::string spent_words(const Report& report, const RootCause& cause, const std::string& how) {
  const auto of = [&](double part) {
    constexpr double kNearlyAll = 0.98;
    if (part >= kNearlyAll * cause.longer) return seconds(part);
    return seconds(part) + " of " + seconds(cause.longer);
  };
  switch (spent_by(cause)) {
    case Spent::kBlocked:
      return " is blocked " + of(cause.spent->blocked) + blocked_by(cause.spent->kind, false);
    case Spent::kNoProcessor:
      return " had no processor for " + of(cause.spent->no_processor);
    case Spent::kOutside:
      return " is outside of " + library_of(report) + ' ' + how;
    default:
      return " computes " + how;
  }
}

}  // namespace

std::string cause_words(const Report& report, const RootCause& cause) {
  const std::vector<Deadlock>& deadlocks = report.last_calls().deadlocks;
  if (cause.deadlock < deadlocks.size()) {
    return "the deadlock of " + rank_list(deadlocks[cause.deadlock].ranks, report.process_word());
  }
  const std::string does = who(report, cause.location);
  const std::string how = seconds(cause.longer) + (cause.compared ? " longer" : "");
  switch (cause.stretch.kind) {
    case Stretch::Kind::kBeforeRecording:
      return does + " starts " + seconds(cause.longer) + " later";
    case Stretch::Kind::kStarting:
      return does + " starts " + seconds(cause.longer) + " later in " +
             call_name(report, cause.stretch.path);
    case Stretch::Kind::kAnswering:
      return does + ", which serves, was answering " + who(report, cause.stretch.whom) + " for " +
             how;
    case Stretch::Kind::kComputing: {
      const StretchWords words =
          computing_words(report, cause.stretch, true, sampled_words(report, cause));
      const std::string in = words.function.empty() ? " " : " in " + words.function + ", ";
      return does + spent_words(report, cause, how) + in + words.when;
    }
    default:
      return does + " spends " + how + " in " + call_name(report, cause.stretch.path);
  }
}

std::string function_advice(const Report& report, const RootCause& cause) {
  if (cause.stretch.kind != Stretch::Kind::kComputing ||
      report.find_metric(kSamplesMetric) != kNone ||
      !computing_words(report, cause.stretch, true, {}).function.empty()) {
    return {};
  }
  return "The lines of calls say where computing begins and ends, not which function computes: "
         "kojak run --sample tells that.";
}

std::string pattern_words(const RootCause& cause) {
  std::string words;
  double behind = 0;
  // By title: a pattern that stands in several places of the tree is one to the reader.
  std::vector<std::pair<double, std::string_view>> direct;
  for (const CostOfPattern& p : cause.patterns) {
    behind += p.long_term;
    const std::string_view title = all_metrics()[p.metric].title;
    const auto known = std::find_if(direct.begin(), direct.end(),
                                    [&](const auto& entry) { return entry.second == title; });
    if (known == direct.end()) {
      direct.emplace_back(p.short_term, title);
    } else {
      known->first += p.short_term;
    }
  }
  std::stable_sort(direct.begin(), direct.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [waiting, title] : direct) {
    if (!words.empty() && waiting < kShown) break;
    if (!words.empty()) words += ", ";
    words += std::string(title) + ' ' + seconds(waiting);
  }
  if (behind >= kShown) words += "; " + seconds(behind) + " passed on to others";
  return words;
}

std::string effect_words(const Report& report, const RootCause& cause) {
  const std::vector<Deadlock>& deadlocks = report.last_calls().deadlocks;
  if (cause.deadlock < deadlocks.size()) {
    const std::vector<std::uint32_t>& behind = deadlocks[cause.deadlock].behind;
    return (behind.empty()
                ? "they wait "
                : "they and " + rank_list(behind, report.process_word()) + " behind it wait ") +
           seconds(cause.seconds) + " until the run was ended (" + pattern_words(cause) + ')';
  }
  std::string words = "the others wait " + seconds(cause.seconds) + " for it";
  std::string most;
  std::size_t more = 0;
  for (const CostOfObject& o : cause.objects) {
    std::string object = object_words(report, {.object = o.object, .id = o.id});
    if (most.empty())
      most = std::move(object);
    else if (!object.empty())
      ++more;
  }
  if (!most.empty()) words += " on " + most;
  if (more != 0) words += " and " + counted(more, "other", "others");
  words += " (" + pattern_words(cause) + ')';
  if (!report.last_calls()
           .empty()) {  // of a run that was ended nobody knows how long it would take
    const bool open =
        cause.stretch.kind == Stretch::Kind::kComputing && cause.stretch.after == kNoCallPath;
    if (open) words += "; it had not ended";
  } else if (cause.gain) {
    words +=
        "; " + (*cause.gain < kShown ? no_gain_words(report) : gain_said(seconds(*cause.gain)));
  }
  if (const std::string counted = counter_words(report, cause); !counted.empty()) {
    words += "; " + counted;
  }
  // Then the machine may have made it late, and not the program.
  if (const std::string had_none = without_processor(report, cause.location); !had_none.empty()) {
    words += "; " + had_none;
  }
  return words;
}

std::string does_at_end(const Report& report, const Chain& chain) {
  const LocationIndex who = chain.links.back().awaited;
  const Stretch& s = chain.stretch;
  const std::string outside = "is outside of " + library_of(report);
  if (!report.root_causes()) return outside;
  const std::vector<RootCause>& causes = report.root_causes()->causes;
  const auto cause = std::find_if(causes.begin(), causes.end(), [&](const RootCause& known) {
    const Stretch& c = known.stretch;
    return known.location == who && c.kind == s.kind && c.place() == s.place();
  });
  switch (cause == causes.end() ? Spent::kOutside : spent_by(*cause)) {
    case Spent::kBlocked:
      return "is blocked" + blocked_by(cause->spent->kind, false);
    case Spent::kNoProcessor:
      return "has no processor";
    case Spent::kOutside:
      if (!report.processors().is_looked_at(who)) return outside;
      [[fallthrough]];
    default:
      return "computes";
  }
}

std::string chain_words(const Report& report, const Chain& chain) {
  constexpr std::size_t kWhole = 6, kEnds = 2;
  const std::vector<ChainLink>& links = chain.links;
  const std::size_t all = links.size() + chain.left_out;
  if (all < 2 || links.empty()) return {};
  const bool cut = all > kWhole || chain.left_out > 0;
  const std::size_t head = !cut ? links.size() : chain.left_out > 0 ? 0 : kEnds;
  const std::size_t tail = cut ? std::min(kEnds, links.size() - head) : 0;
  const auto call = [&](const ChainLink& link) { return call_name(report, link.call_path); };
  const bool same_call = std::all_of(links.begin(), links.end(), [&](const ChainLink& link) {
    return call(link) == call(links.front());
  });
  std::string words, last_call;
  bool said = false;
  const auto add = [&](const ChainLink& link) {
    if (!words.empty()) words += ", ";
    words +=
        said ? number(report, link.waiter) + " for " : who(report, link.waiter) + " waits for ";
    words += number(report, link.awaited);
    said = true;
    if (same_call || call(link) == last_call) return;
    last_call = call(link);
    words += " in " + last_call;
  };
  for (std::size_t i = 0; i < head; ++i) add(links[i]);
  if (cut) {
    words += (words.empty() ? "... " : ", ... ") + std::to_string(all - head - tail) + " more ...";
    last_call.clear();
  }
  for (std::size_t i = links.size() - tail; i < links.size(); ++i) add(links[i]);
  if (same_call) words += ", all in " + call(links.front());
  if (!chain.explained) return words;
  words += "; " + number(report, links.back().awaited);
  switch (chain.stretch.kind) {
    case Stretch::Kind::kBeforeRecording:
    case Stretch::Kind::kStarting:
      return words + " starts late";
    case Stretch::Kind::kAnswering:
      return words + ", which serves, was answering " + number(report, chain.stretch.whom);
    case Stretch::Kind::kComputing:
      return words + ' ' + does_at_end(report, chain);
    default:
      return words + " is in " + call_name(report, chain.stretch.path);
  }
}

Statement cause_statement(const Report& report, const RootCause& cause) {
  Statement said;
  said.names(cause_words(report, cause)).words(": ");
  said.names(effect_words(report, cause)).words(".");
  return said;
}

std::vector<const RootCause*> listed_causes(const RootCauses& causes) {
  constexpr std::size_t kMost = 10;
  std::vector<const RootCause*> listed;
  for (const RootCause& cause : causes.causes) {
    const bool matters = cause.seconds >= kWorthACause * causes.waits ||
                         cause.gain.value_or(0) >= kWorthACause * causes.path_length;
    if (matters && listed.size() < kMost) listed.push_back(&cause);
  }
  return listed;
}

std::string share_words(const Report& report, const PathShare& share) {
  const std::string words = stretch_name(report, share.stretch);
  if (share.stretch.kind != Stretch::Kind::kCall) return words;
  const Deadlock* const in = deadlock_at(report, share.location, share.stretch.path);
  return in == nullptr ? words
                       : words + ", the deadlock of " + rank_list(in->ranks, report.process_word());
}

}  // namespace kojak::expert

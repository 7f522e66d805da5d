// Long because every sentence stands here once.
#include "expert/findings/verdict.h"

#include <algorithm>
#include <map>

#include "epilog/format/text/counts.h"
#include "expert/findings/group_words.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/numbers.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/rules.h"
#include "expert/findings/step_words.h"
#include "expert/findings/wait_words.h"
#include "expert/findings/waits.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/services.h"
#include "expert/profile/shares.h"
#include "expert/sums/samples.h"

namespace kojak::expert {
namespace {

using Is = Sentence::Is;
using Shape = CauseGroup::Shape;

class Maker {
 public:
  explicit Maker(const Report& report)
      : report_(report), bar_(bar_of(report)), run_(run_seconds(report)) {}

  Verdict make() {
    v_.share = bar_.base > 0 ? bar_.seconds(Bar::kWaiting) / bar_.whole() : 0;
    add_missing();
    add_ended();
    add_services();
    add_processors();
    if (report_.call_paths().empty() || !(bar_.base > 0)) {
      add(Is::kShare).words(kNoEvents);
      v_.kinds.emplace_back("empty");
      return std::move(v_);
    }
    add_share();
    if (v_.share < kWorthLooking) return std::move(v_);
    add_who();
    add_not_attributed();
    add_try();
    return std::move(v_);
  }

 private:
  Statement& add(Is is) {
    v_.sentences.push_back({is, {}, {}});
    return v_.sentences.back().said;
  }
  bool ended() const { return !report_.last_calls().empty(); }
  const CauseGroups* groups() const {
    return report_.root_causes() ? &report_.root_causes()->groups : nullptr;
  }
  // That the verdict speaks of: null if nothing is known of causes.
  const CauseGroup* first() const {
    if (groups() == nullptr || groups()->listed.empty()) return nullptr;
    for (const CauseGroup& g : groups()->listed) {
      if (g.deadlock == kNoDeadlock) return &g;
    }
    return nullptr;
  }

  void add_missing() {
    const std::optional<MergedRun>& run = report_.definitions().merged_run;
    const std::uint64_t missing = run ? raw(run->missing) : 0;
    if (missing != 0) {
      const std::uint64_t all = std::max<std::uint64_t>(raw(run->size), missing);
      v_.kinds.emplace_back("missing");
      add(Is::kMissing)
          .words("Part of the run is missing: " + grouped(missing) + " of " +
                 counted(all, "process", "processes") + " left no records.");
      return;
    }
    for (const Finding& f : report_.findings()) {
      if (f.severity != Finding::Severity::kSuspect) continue;
      v_.kinds.emplace_back("suspect");
      add(Is::kMissing)
          .words("What follows may be wrong: ")
          .names(grouped(f.count) + " x " + f.what)
          .words(".");
      return;
    }
  }

  void add_ended() {
    if (!ended()) return;
    const std::vector<Deadlock>& deadlocks = report_.last_calls().deadlocks;
    if (!deadlocks.empty()) {
      v_.kinds.emplace_back("deadlock");
      add(Is::kEnded).names(deadlock_words(report_, deadlocks.front()));
      return;
    }
    v_.kinds.emplace_back("ended");
    if (const std::string words = verdict_words(report_); !words.empty()) {
      add(Is::kEnded).names(words);
    }
  }

  void add_services() {
    const std::vector<ServingThread> serving = serving_threads(report_);
    if (serving.empty()) return;
    const ServingThread& first = serving.front();
    double seconds = 0;
    for (const ServingThread& s : serving) seconds += s.seconds;
    Statement& said = add(Is::kServes);
    said.names(report_.thread_name(first.thread)).words(" serves the others (");
    if (first.library_call != kNone) {
      said.words("it is in ")
          .names(report_.region_name(report_.call_paths()[first.library_call].region));
      const std::string place = report_.call_site(first.library_call);
      if (!place.empty()) said.names(", " + place);
    } else {
      said.words("a library has started it");
    }
    said.words(", from " + short_time(first.since) + " to the end)");
    if (const std::size_t more = serving.size() - 1; more != 0) {
      said.words(", and so " + std::string(more == 1 ? "does " : "do ") + std::to_string(more) +
                 " more; their ");
    } else {
      said.words("; its ");
    }
    said.words(short_time(seconds) + " are not counted.");
  }

  void add_processors() {
    const std::vector<OutsideOfCalls> outside = outside_of_calls(report_);
    double missing = 0;
    std::size_t worst = 0;
    for (std::size_t t = 0; t < outside.size(); ++t) {
      missing += outside[t].at_least;
      if (outside[t].at_least > outside[worst].at_least) worst = t;
    }
    const CauseGroup* g = first();
    const bool there =
        g != nullptr && in_seconds(g->longer) > 0 &&
        without_processor_of(report_, *g) >= kProcessorsMissingThere * in_seconds(g->longer);
    if (!(missing > 0) || (missing < kProcessorsMissing * bar_.whole() && !there)) return;
    processors_ = true;
    v_.kinds.emplace_back("processors");
    std::string words = "Processors were missing: ";
    const ProcessorUse& use = report_.processors();
    for (const ProcessorUse::Sharing& s : use.sharing) {
      words +=
          counted(s.processes, "process", "processes") + " share " + std::to_string(s.count) + "; ";
      break;
    }
    for (const ProcessorUse::Limit& l : use.limits) {
      if (!use.sharing.empty()) break;
      words += "a control group allows " + fixed(l.processors, l.processors < 10 ? 1 : 0) + "; ";
      break;
    }
    words += report_.thread_name(worst) + " had none for " +
             (outside[worst].exact ? "" : "at least ") +
             short_times(outside[worst].at_least, outside[worst].seconds) + '.';
    add(Is::kProcessors).words(words);
  }

  void add_share() {
    if (v_.share >= kWorthLooking) {
      add(Is::kShare).words(share_words(bar_, Bar::kWaiting) + " of the time is waiting.");
      return;
    }
    v_.kinds.emplace_back("nothing");
    Statement& said = add(Is::kShare);
    said.words("No wait takes 1 % of the time.");
    Bar::Part most = Bar::kComputing;
    for (const Bar::Part p : {Bar::kMpi, Bar::kBlocked, Bar::kNoProcessor, Bar::kMeasurement}) {
      if (bar_.parts[p] > bar_.parts[most]) most = p;
    }
    const std::string share = ' ' + share_words(bar_, most);
    switch (most) {
      case Bar::kComputing:
        said.words(share + " of it is computing");
        add_hottest(said);
        break;
      case Bar::kMpi:
        said.words(share + " is in " + library_of(report_) + " and no wait is found there");
        add_largest_call(said);
        break;
      case Bar::kBlocked:
        said.words(share + " of it the processes are blocked");
        break;
      case Bar::kNoProcessor:
        said.words(share + " of it there was no processor");
        break;
      default:
        said.words(share + " of it is the measurement's own");
        break;
    }
    said.words(".");
  }

  // The function with the most samples, and what it takes on the ranks.
  void add_hottest(Statement& said) {
    const double interval = sample_interval(report_.definitions());
    const std::size_t metric = report_.find_metric(kSamplesMetric);
    if (metric == kNone || interval == 0) return;
    std::map<std::string, std::vector<double>> functions;
    std::vector<double> row(report_.threads());
    for (std::size_t c = 0; c < report_.call_paths().size(); ++c) {
      if (!report_.row(metric, c, row)) continue;
      const CallPathNode& node = report_.call_paths()[c];
      const std::string name = report_.region_name(node.region);
      std::vector<double>& sums = functions[name];
      sums.resize(row.size());
      for (std::size_t t = 0; t < row.size(); ++t) sums[t] += row[t];
    }
    const std::string* most = nullptr;
    double all = 0, largest = 0;
    for (const auto& [name, sums] : functions) {
      double sum = 0;
      for (const double s : sums) sum += s;
      all += sum;
      if (sum <= largest) continue;
      largest = sum;
      most = &name;
    }
    if (most == nullptr || 2 * largest < all) return;
    const std::vector<double>& sums = functions[*most];
    const auto [low, high] = std::minmax_element(sums.begin(), sums.end());
    const bool call = most->back() == ')';
    said.words(", most of it ").names(call ? *most : *most + "()").words(", which takes ");
    if (*high <= 1.1 * *low) {
      said.words(short_time(*high * interval) + " on each rank");
    } else {
      said.words("between " + short_time(*low * interval) + " and " + short_time(*high * interval));
    }
  }

  void add_largest_call(Statement& said) {
    const std::size_t time = report_.find_metric(Time::kMetric.name);
    if (time == kNone) return;
    std::size_t most = kNone;
    double largest = 0, all = 0;
    std::vector<double> row(report_.threads());
    for (std::size_t c = 0; c < report_.call_paths().size(); ++c) {
      const RegionDef* region = report_.definitions().regions.find(report_.call_paths()[c].region);
      if (region == nullptr || (region->function == nullptr && region->shmem == nullptr) ||
          Shares::is_start(report_, c) || !report_.row(time, c, row)) {
        continue;
      }
      double sum = 0;
      for (const double s : row) sum += s;
      all += sum;
      if (sum <= largest) continue;
      largest = sum;
      most = c;
    }
    if (most == kNone || 2 * largest < all) return;
    said.words(", most of it in ").names(call_words(report_, report_.call_paths()[most].index));
  }

  // "without it the run would take 0.16 s less (23 %)"; empty where nothing can be said of it.
  std::string gain_words(const CauseGroup& group, std::optional<Ticks> of) {
    const std::optional<Gain> gain = gain_to_say(report_, run_, of);
    if (!gain || !(run_ > 0)) return {};
    v_.gain = gain->seconds;
    if (gain->worth) {
      return gain_said(short_time(gain->seconds)) + " (" + short_share(gain->seconds, run_) + ")";
    }
    const std::string none = no_gain_words(report_);
    // Two or three at once may.
    const std::vector<CauseGroup>& listed = groups()->listed;
    if (&listed.front() != &group) return none;
    std::string with;
    for (std::size_t i = 1; i < listed.size() && i < 3; ++i) {
      with += (i == 1 ? "" : ", ") + what_column(report_, listed[i]) + " (" +
              who_column(report_, listed[i]) + ")";
      const std::optional<Gain> both = gain_to_say(report_, run_, listed[i].cumulated);
      if (!both || !both->worth) continue;
      return "without it and " + with + " it would take " + short_time(both->seconds) + " less (" +
             short_share(both->seconds, run_) + ")";
    }
    return none;
  }

  void end_who(Statement& said, const std::string& gain) {
    if (!gain.empty()) said.words("; ").names(gain);
    said.words(".");
  }

  // Whom it makes wait; of a chain also those behind.
  std::string whom(const CauseGroup& g, bool named) const {
    const Chain* chain = chain_of(report_, g);
    if (chain == nullptr || !named) return victims_words(report_, g, named);
    std::vector<LocationIndex> behind;
    for (std::size_t i = chain->links.size() - 1; i-- > 0;) {
      behind.push_back(chain->links[i].waiter);
    }
    const std::string direct = those(report_, {chain->links.back().waiter});
    constexpr std::size_t kByName = 3;
    return direct + " wait and through it " +
           (behind.size() <= kByName ? those(report_, behind) : grouped(behind.size()) + " others");
  }
  std::string makes_wait(const CauseGroup& g, bool several, bool named) const {
    const std::string who = whom(g, named);
    const bool chain = who.find(" wait and through it ") != std::string::npos;
    return std::string(several ? "make " : "makes ") + who + (chain ? "" : " wait");
  }

  void add_who() {
    const CauseGroups* all = groups();
    if (all == nullptr) return add_not_computed();
    const CauseGroup* g = first();
    if (g == nullptr) return;
    // Beside the words on how a run was ended a small part of its waiting is not worth any.
    constexpr int kBeside = 10;
    if (ended() && g->amount * kBeside < all->all) return;
    v_.group = static_cast<std::size_t>(g - all->listed.data());
    if (g->spread != CauseGroup::Spread::kNo) return say_spread(*g);
    v_.kinds.emplace_back(g->shape == Shape::kPairs   ? "pairs"
                          : g->shape == Shape::kTurns ? "turns"
                          : g->shape == Shape::kAll   ? "all"
                                                      : "few");
    switch (g->shape) {
      case Shape::kPairs:
        return say_pairs(*g);
      case Shape::kTurns:
        return say_turns(*g);
      case Shape::kAll:
        if (g->kind == Stretch::Kind::kComputing) return say_all(*g);
        [[fallthrough]];
      default:
        return say_few(*g);
    }
  }

  void say_few(const CauseGroup& g) {
    const std::string gain = gain_words(g, g.gain);
    const std::string who = who_column(report_, g);
    const bool several = g.shape == Shape::kFew ? g.few.size() > 1 : g.units.size() > 1;
    for (const bool named : {true, false}) {
      Statement said;
      const std::string waits = makes_wait(g, several, named);
      const std::string where = where_of(report_, g);
      const bool function = !is_absent(g.function);
      switch (g.kind) {
        case Stretch::Kind::kBeforeRecording:
          said.words(who + (several ? " start " : " starts ") + short_time(latest_of(report_, g)) +
                     " later and ")
              .words(waits);
          break;
        case Stretch::Kind::kStarting:
          said.words(who + (several ? " start " : " starts ") + short_time(latest_of(report_, g)) +
                     " later in ")
              .names(call_words(report_, g.stretch.path))
              .words(" and " + waits);
          break;
        case Stretch::Kind::kOverhead:
          said.words("the measurement itself takes longer on " + who + " and makes " +
                     whom(g, named) + " wait");
          break;
        case Stretch::Kind::kAnswering:
          said.words(answering_words(report_, g) + ", which " + makes_wait(g, false, named));
          break;
        case Stretch::Kind::kCall:
          said.names(where).words(" itself takes longer on " + who + " and makes " +
                                  whom(g, named) + " wait");
          break;
        default:
          if (const Spent spent = spent_by(report_, g); spent != Spent::kComputing) {
            said.words(spent_words(g, spent, who, several) + (function ? " in " : " "))
                .names(function ? where : after_words(g))
                .words(" and " + waits);
          } else {
            said.words(who + ", ").names(where).words(", " + waits);
          }
      }
      if (g.shape == Shape::kAll) add_odd(said, g);
      end_who(said, gain);
      if (named) v_.sentences.push_back({Is::kWho, said, {}});
      if (!named) v_.sentences.back().shorter = said;
    }
  }

  static bool odd_is_subject(const CauseGroup& g) {
    Amount sum = 0;
    for (std::size_t i = 0; i < g.odd; ++i) sum += g.units[i].amount;
    return g.odd != 0 && 2 * sum >= g.amount;
  }

  // "rank 1 is blocked (sleeps)", "rank 1 had no processor for 0.2 s of 0.3 s", "ranks 1 and 2 are
  // outside of MPI"
  std::string spent_words(const CauseGroup& g, Spent spent, const std::string& who,
                          bool several) const {
    const std::optional<Spending> spending = spending_of(report_, g);
    if (spent == Spent::kNoProcessor) {
      return had_no_processor(who,
                              short_times(without_processor_of(report_, g), in_seconds(g.longer)),
                              spending.has_value());
    }
    const std::string is = who + (several ? " are " : " is ");
    return spent == Spent::kBlocked ? is + "blocked" + blocked_by(spending->kind, several)
                                    : is + "outside of " + library_of(report_);
  }

  // "after MPI_Barrier() at x.c:3"
  std::string after_words(const CauseGroup& g) const {
    if (g.stretch.before != kNoCallPath) {
      return "after " + call_words(report_, g.stretch.before);
    }
    return g.stretch.after == kNoCallPath ? std::string("all the time")
                                          : "before " + call_words(report_, g.stretch.after);
  }

  // What tells the odd ones from the others; up to three of them.
  void add_odd(Statement& said, const CauseGroup& g) {
    if (g.odd == 0) return;
    said.words(g.odd == 1 ? "; the odd one is " : "; the odd ones are ").words(odd_words(g));
  }
  std::string odd_words(const CauseGroup& g) const {
    constexpr std::size_t kByName = 3;
    std::vector<LocationIndex> culprits;
    for (std::size_t i = 0; i < g.odd && i < kByName; ++i) {
      culprits.push_back(g.units[i].culprit);
    }
    const std::string words = those(report_, culprits);
    return g.odd > kByName ? words + " and " + std::to_string(g.odd - kByName) + " more" : words;
  }

  void say_all(const CauseGroup& g) {
    Statement& said = add(Is::kWho);
    const std::string where = where_of(report_, g);
    const std::size_t count = g.units.size();
    if (g.even) {
      said.words("Waiting is spread evenly over " + counted_processes(report_, count) + ": ");
    } else {
      Amount sum = 0;
      std::size_t half = 0;
      while (half < count && 2 * sum < g.amount) sum += g.units[half++].amount;
      said.words("Waiting is spread over " + counted_processes(report_, count) + ", " +
                 (half == 1 ? "one has" : "the first " + std::to_string(half) + " have") +
                 " half of it: ");
    }
    said.names(where).words(" on each");
    add_odd(said, g);
    end_who(said, gain_words(g, g.gain));
  }

  void say_turns(const CauseGroup& g) {
    Statement& said = add(Is::kWho);
    said.words(counted_processes(report_, g.units.size()) + " take turns at ");
    said.names(lock_words(g));
    said.words(", which is held in ").names(where_of(report_, g));
    said.words(g.even ? ", and wait evenly for each other" : ", and wait for each other");
    add_odd(said, g);
    end_who(said, gain_words(g, g.gain));
  }

  // The lock that most of its waiting was at.
  std::string lock_words(const CauseGroup& g) const {
    std::map<std::pair<int, std::uint32_t>, double> objects;
    const std::vector<RootCause>& causes = report_.root_causes()->causes;
    for (const std::uint32_t c : g.causes) {
      for (const CostOfObject& o : causes[c].objects) {
        objects[{static_cast<int>(o.object), o.id}] += o.seconds;
      }
    }
    const auto most = std::max_element(objects.begin(), objects.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (most == objects.end()) return "a lock";
    const Operation operation{.object = static_cast<Operation::Object>(most->first.first),
                              .id = most->first.second};
    const std::string object = object_words(report_, operation);
    const bool of_window = operation.object == Operation::Object::kWindow;
    return object.empty() ? "a lock" : of_window ? "the lock of " + object : object;
  }

  void say_pairs(const CauseGroup& g) {
    const std::vector<CauseGroup::Unit>& units = g.units;
    const std::string count = units_words(report_, g);
    const std::string where = where_of(report_, g);
    const bool pairs = units.front().members.size() == 2;
    if (odd_is_subject(g)) {
      const CauseGroup::Unit& u = units.front();
      Statement& said = add(Is::kWho);
      said.words(those(report_, {u.culprit}) + ", ").names(where);
      said.words(", makes " + those(report_, {u.victim}) + " wait");
      end_who(said, gain_words(g, g.odd_gain ? g.odd_gain : g.gain));
      said.words(" The same in " + grouped(units.size() - 1) + " other " +
                 (pairs ? "pairs" : "groups") + (g.even ? ", evenly." : "."));
      return;
    }
    Statement& said = add(Is::kWho);
    if (g.odd != 0) {
      const CauseGroup::Unit& u = units.front();
      said.words(count + " wait for ").names(where);
      const double times = g.median > 0 ? in_seconds(u.amount) / in_seconds(g.median) : 0;
      const std::string rank = those(report_, {u.culprit});
      said.words(g.odd == 1 ? ". The odd one is " + rank + ": it"
                            : ". The odd ones are " + odd_words(g) + ": " + rank);
      said.words(" makes " + those(report_, {u.victim}) + " wait " +
                 short_time(in_seconds(u.amount)) + ", " + fixed(times, 0) +
                 " times as long as the others");
      end_who(said, gain_words(g, g.odd_gain));
      return;
    }
    said.words(count + (g.even ? " wait alike, spread evenly: " : " wait: "));
    const auto lower = [](const CauseGroup::Unit& u) { return u.culprit < u.victim; };
    const bool all_lower = std::all_of(units.begin(), units.end(), lower);
    const bool all_higher = std::none_of(units.begin(), units.end(), lower);
    const bool rank = pairs && (all_lower || all_higher);
    said.words(rank ? std::string("the ") + (all_lower ? "lower " : "higher ") +
                          report_.process_word() + " of each makes the other wait in "
               : pairs ? "one of each makes the other wait in "
                       : "one of each makes the others wait in ");
    said.names(is_absent(g.function) ? where_of(report_, g) : where);
    end_who(said, gain_words(g, g.gain));
  }

  void say_spread(const CauseGroup& g) {
    v_.kinds.emplace_back("spread");
    Statement& said = add(Is::kWho);
    said.words("Waiting is spread over " + counted(g.functions, "function", "functions") + ", " +
               short_share(in_seconds(g.amount), in_seconds(groups()->all)) + " of it ");
    if (g.spread == CauseGroup::Spread::kPhase) {
      said.words("in ").names(function_words(report_, g.caller.function));
    } else {
      said.words(g.kind == Stretch::Kind::kCall        ? "in calls themselves"
                 : g.kind == Stretch::Kind::kComputing ? "outside of " + library_of(report_)
                                                       : "at the start");
    }
    end_who(said, gain_words(g, g.gain));
  }

  // Those who ended the waits, where nobody computed who is to blame.
  void add_not_computed() {
    v_.kinds.emplace_back("not_computed");
    const std::vector<PlaceWait> waits = waits_of(report_);
    if (waits.empty()) return;
    const PlaceWait& most = waits.front();
    const CallPathNode& at = report_.call_paths()[most.call_path];
    const MetricIndex metric = report_.metrics()[most.metric].own.front();
    Statement& said = add(Is::kWho);
    said.names(call_words(report_, at.index)).words(" waits");
    const std::vector<Partner> partners = partners_of(report_, metric, at);
    if (!partners.empty()) {
      std::map<LocationIndex, double> until;
      for (const Partner& p : partners) until[p.location] += p.waited.seconds();
      const auto who = std::max_element(until.begin(), until.end(),
                                        [](auto& a, auto& b) { return a.second < b.second; });
      said.words(", " + short_share(who->second, most.seconds) + " of it until " +
                 those(report_, {who->first}) + " comes");
    }
    said.words("; who is to blame: --causes=always.");
  }

  void add_not_attributed() {
    const CauseGroups* all = groups();
    if (all == nullptr || !(all->all > 0) || !much_is_not_attributed(report_)) return;
    const double part = in_seconds(all->not_attributed), whole = in_seconds(all->all);
    add(Is::kNotAttributed).words(short_share(part, whole) + " of the waiting is not attributed.");
  }

  static bool is_message(MetricIndex metric) { return metric == metric_index<LateSender>(); }
  static bool is_progress(MetricIndex metric) {
    return metric != kNoMetric && waits_for_progress(metric);
  }

  std::string advice_of(const CauseGroup& g) {
    const MetricIndex pattern = main_pattern(g);
    const std::string function = function_words(report_, g.function);
    const std::string in = function.empty() ? "there" : "in " + function;
    if (g.kind == Stretch::Kind::kOverhead) return "a larger ELG_BUFFER_SIZE";
    if (g.kind == Stretch::Kind::kAnswering) return "fewer requests, or more processes that serve";
    if (g.shape == Shape::kPairs && g.odd != 0) {
      return "to find what is special about " + those(report_, {g.units.front().culprit});
    }
    if (g.shape == Shape::kTurns) return "to keep out of the lock what needs none";
    if (g.kind == Stretch::Kind::kCall) {
      if (pattern == kNoMetric) return {};
      const std::string_view advice = all_metrics()[pattern].advice;
      std::string first(advice.substr(0, advice.find(". ")));
      if (!first.empty() && first.back() == '.') first.pop_back();
      return first.empty() ? first : '"' + first + '"';
    }
    if (g.kind != Stretch::Kind::kComputing) return {};
    const Spent spent = g.shape == Shape::kPairs ? Spent::kOutside : spent_by(report_, g);
    if (spent == Spent::kBlocked) return "to do it before, or in another thread";
    if (spent == Spent::kNoProcessor) return "to measure with a processor for each";
    if (is_progress(pattern)) {
      return "to call " + library_of(report_) + ' ' + in +
             " now and then, or a library that needs no call";
    }
    if (pattern != kNoMetric && is_message(pattern)) return message_advice(g, function);
    if (g.shape == Shape::kAll && g.odd != 0) {
      return "to find what is special about " + those(report_, {g.units.front().culprit});
    }
    if (g.shape != Shape::kFew) return {};
    // That it works is known of samples.
    if (is_absent(g.place) && !spending_of(report_, g)) {
      return report_.find_metric(kSamplesMetric) == kNone
                 ? "\"kojak run --sample tells what " +
                       (g.few.size() > 1 ? "they do" : those(report_, {g.largest}) + " does") +
                       " there\""
                 : std::string();
    }
    std::string words = "to share its work";
    const Work work = work_of(g);
    if (work.own > 0) {
      const auto all = static_cast<double>(report_.threads());
      v_.shared = "Shared evenly, " + short_time((work.own + (all - 1) * work.others) / all) +
                  " of it would stay with each.";
    }
    if (processors_) return words + ", and to measure with a processor for each";
    return words + work_words(g, work);
  }

  std::string message_advice(const CauseGroup& g, const std::string& function) const {
    std::string words = "to send before " + (function.empty() ? "that" : function);
    const RootCause* const most = most_costly(report_, g);
    if (most != nullptr && !most->chain.links.empty()) {
      const ChainLink& link = most->chain.links.back();
      const std::size_t path = report_.path_at(link.call_path);
      if (path != kNone && g.shape == Shape::kFew) {
        const std::string site = report_.call_site(path);
        words += ", or to let " + those(report_, {link.waiter}) + " compute before it receives" +
                 (site.empty() ? "" : " at " + site);
      }
    }
    return words;
  }

  // What the one process computes in the function of a group, and the others in the mean.
  struct Work {
    double own = 0, others = 0;  // seconds
  };
  Work work_of(const CauseGroup& g) const {
    Work work;
    const double interval = sample_interval(report_.definitions());
    if (g.few.size() != 1 || is_absent(g.place)) return work;
    const std::string name = report_.region_name(g.function);
    const std::vector<RootCause>& causes = report_.root_causes()->causes;
    for (const std::uint32_t c : g.causes) {
      if (causes[c].location != g.ranks[g.few.front()].location) continue;
      for (const SampledPlace& p : causes[c].sampled) {
        const CallSiteDef* site = report_.definitions().call_sites.find(p.site);
        if (site == nullptr || report_.region_name(site->left) != name) continue;
        work.own += p.samples * interval;
        work.others += p.others * interval;
      }
    }
    return work;
  }

  // ": rank 5 computes 0.45 s in it, the others 0.28 s in the mean"
  std::string work_words(const CauseGroup& g, const Work& work) const {
    if (!(work.own > 0)) return {};
    const std::string rest = work.others < kNothingOfIt * work.own
                                 ? "nothing"
                                 : short_time(work.others) + " in the mean";
    return ": " + those(report_, {g.ranks[g.few.front()].location}) + " computes " +
           short_time(work.own) + " in it, the others " + rest;
  }

  void add_try() {
    const CauseGroup* g = first();
    if (g == nullptr || ended() || g->spread != CauseGroup::Spread::kNo) return;
    const std::string advice = advice_of(*g);
    if (advice.empty()) return;
    if (advice.front() == '"') {  // a sentence of its own
      add(Is::kTry).words(advice.substr(1, advice.size() - 2) + '.');
    } else {
      add(Is::kTry).words("Try ").names(advice).words(".");
    }
  }

  const Report& report_;
  Bar bar_;
  double run_;
  bool processors_ = false;
  Verdict v_;
};

}  // namespace

Verdict verdict_of(const Report& report) {
  return Maker(report).make();
}

std::string text_of(const Statement& said) {
  std::string text;
  for (const Statement::Piece& piece : said.pieces) text += piece.text;
  return text;
}

std::string text_of(const Verdict& verdict) {
  std::string text;
  for (const Sentence& s : verdict.sentences) text += (text.empty() ? "" : " ") + text_of(s.said);
  return text;
}

}  // namespace kojak::expert

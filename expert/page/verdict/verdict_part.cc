#include "expert/page/verdict/verdict_part.h"

#include <algorithm>
#include <array>
#include <map>

#include "epilog/format/text/counts.h"
#include "expert/findings/bar.h"
#include "expert/findings/card_words.h"
#include "expert/findings/group_words.h"
#include "expert/findings/numbers.h"
#include "expert/findings/rules.h"
#include "expert/findings/verdict.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/efficiency.h"
#include "expert/profile/shares.h"

namespace kojak::html {
namespace {

using expert::CauseGroup;
using expert::in_seconds;
using expert::LocationIndex;
using expert::Report;
using expert::Sentence;

constexpr std::size_t kColumns = 64;

// The sentence cut where these stand in it, one after the other; what is not there is left out.
std::vector<SaidPiece> marked(const std::string& text, const std::vector<SaidPiece>& marks) {
  std::vector<SaidPiece> pieces;
  std::size_t from = 0;
  for (const SaidPiece& mark : marks) {
    const std::size_t at = mark.text.empty() ? std::string::npos : text.find(mark.text, from);
    if (at == std::string::npos) continue;
    if (at > from) pieces.push_back({unbroken(text.substr(from, at - from)), {}});
    pieces.push_back({unbroken(mark.text), mark.is});
    from = at + mark.text.size();
  }
  if (from < text.size()) pieces.push_back({unbroken(text.substr(from)), {}});
  return pieces;
}

std::string until_colon(const std::string& text) {
  return text.substr(0, text.find(':') == std::string::npos ? 0 : text.find(':') + 1);
}

SaidSentence said(const Report& report, const expert::Verdict& verdict, const Sentence& sentence) {
  const std::string text = expert::text_of(sentence.said);
  switch (sentence.is) {
    case Sentence::Is::kMissing:
      return {"missing", marked(text, {})};
    case Sentence::Is::kEnded:
      return {"ended", marked(text, {{until_colon(text), "lead"}})};
    case Sentence::Is::kServes:  // a line of the same kind as that of processors
      return {"processors", marked(text, {})};
    case Sentence::Is::kProcessors: {
      std::string more = text;
      if (verdict.group && more.ends_with('.')) {
        more.replace(more.size() - 1, 1, "; with a processor for each the waits may be shorter.");
      }
      return {"processors", marked(more, {{until_colon(text), "lead"}})};
    }
    case Sentence::Is::kShare: {
      const std::size_t end = text.find('%');
      const bool first = end != std::string::npos && text.find_first_of(" ") == end - 1;
      return {"share", marked(text, {{first ? text.substr(0, end + 1) : "", "share"}})};
    }
    case Sentence::Is::kNotAttributed:
      return {"not_attributed", marked(text, {})};
    case Sentence::Is::kTry:
      return {"try", marked(verdict.shared.empty() ? text : text + ' ' + verdict.shared,
                            {{text.starts_with("Try ") ? "Try" : "", "lead"}})};
    default:
      break;
  }
  std::vector<SaidPiece> marks;
  if (verdict.group && report.root_causes()) {
    const CauseGroup& g = report.root_causes()->groups.listed[*verdict.group];
    const SaidPiece who{expert::who_column(report, g), "who"};
    const SaidPiece function{expert::function_words(report, g.function), "function"};
    const SaidPiece place{expert::lines_of(report, g), "place"};
    if (text.find(who.text) < text.find(function.text)) {
      marks = {who, function, place};
    } else {
      marks = {function, place, who};
    }
  }
  if (verdict.gain) marks.push_back({expert::short_time(*verdict.gain) + " less", "gain"});
  return {"who", marked(text, marks)};
}

void add_bar(const Report& report, VerdictPart& part) {
  using expert::Bar;
  const Bar bar = expert::bar_of(report);
  if (!(bar.base > 0)) return;
  const std::array<unsigned, Bar::kParts> shares = expert::shares_of(bar);
  for (std::size_t p = 0; p < Bar::kParts; ++p) {
    if (shares[p] == 0) continue;
    const auto which = static_cast<Bar::Part>(p);
    part.bar.push_back({std::string(Bar::kNames[p]), expert::name_of(which, report),
                        unbroken(expert::share_words(bar, which)),
                        unbroken(expert::short_time(bar.seconds(which))), bar.seconds(which)});
  }
  const std::string library = expert::library_of(report);
  part.bar_of =
      unbroken("of " + expert::short_time(bar.whole())) + ": " +
      counted(report.processes(), "process", "processes") +
      (report.threads() > report.processes() ? ", " + counted(report.threads(), "thread", "threads")
                                             : "") +
      (library == "SHMEM" ? ", shmem_init to shmem_finalize"
       : library == "UPC" ? ", up to upc_exit"
                          : ", MPI_Init to MPI_Finalize");
}

class Cards {
 public:
  explicit Cards(const Report& report)
      : report_(report), causes_(*report.root_causes()), run_(expert::run_seconds(report)) {}

  void add_patterns(const CauseGroup& group, GroupCard& card) const {
    for (auto [metric, left] : group.direct_patterns) {
      const std::string name(expert::all_metrics()[metric].name);
      for (const auto& [at, amount] : group.direct_at) {
        if (at.first != metric) continue;
        card.patterns.push_back({name, report_.path_at(at.second), in_seconds(amount)});
        left -= amount;
      }
      if (left > 0) {
        card.patterns.push_back({name, static_cast<std::size_t>(-1), in_seconds(left)});
      }
    }
  }

  GroupCard card(const CauseGroup& group, std::string number) const {
    GroupCard card;
    card.number = std::move(number);
    card.title = unbroken(expert::title_of(report_, group));
    card.who = expert::who_column(report_, group);
    card.place = expert::lines_of(report_, group);
    const double all = in_seconds(causes_.groups.all);
    card.seconds = in_seconds(group.amount);
    card.waits = unbroken(expert::short_time(card.seconds));
    card.share = unbroken(expert::short_share(card.seconds, all));
    const std::optional<expert::Gain> gain = expert::gain_to_say(report_, run_, group.gain);
    if (gain && gain->worth) {
      card.gain = unbroken(expert::short_time(gain->seconds));
      card.gain_share = unbroken(expert::short_share(gain->seconds, run_));
    }
    card.gain_words = unbroken(expert::gain_of_card(report_, run_, group));
    card.how = unbroken(expert::patterns_said(group));
    add_patterns(group, card);
    for (const std::uint32_t c : group.causes) {
      const bool more = card.cause == static_cast<std::uint32_t>(-1) ||
                        causes_.causes[c].seconds > causes_.causes[card.cause].seconds;
      if (more) card.cause = c;
    }
    if (card.cause != static_cast<std::uint32_t>(-1)) {
      card.call_node = report_.path_at(causes_.causes[card.cause].place);
    }
    card.in_calls = group.kind == expert::Stretch::Kind::kCall;
    card.culprits = largest(group, [](const CauseGroup::Rank& r) { return r.makes_wait; });
    card.victims = largest(group, [](const CauseGroup::Rank& r) { return r.waits; });
    add_lines(group, card);
    add_profile(group, card);
    for (std::size_t i = 0; i < group.parts.size(); ++i) {
      GroupCard inside = this->card(group.parts[i], card.number + static_cast<char>('a' + i % 26));
      inside.title = expert::from_words(report_, group.parts[i], false);
      if (inside.title.starts_with("from ")) inside.title.erase(0, 5);
      const std::string with_line = expert::from_words(report_, group.parts[i], true);
      inside.place = with_line.substr(with_line.rfind(' ') + 1);
      if (inside.place.find(':') == std::string::npos) inside.place.clear();
      inside.profile.clear();
      inside.lines = {};
      card.parts.push_back(std::move(inside));
    }
    return card;
  }

 private:
  struct Place {
    std::string file;
    long line = 0;
  };
  Place place_of(CallSiteId id) const {
    const Definitions& definitions = report_.definitions();
    const CallSiteDef* site = is_absent(id) ? nullptr : definitions.call_sites.find(id);
    const std::string* file = site == nullptr ? nullptr : definitions.files.find(site->file);
    if (file == nullptr || is_absent(site->line)) return {};
    return {*file, static_cast<long>(raw(site->line))};
  }
  Place of_call(expert::CallPathIndex call) const {
    const std::size_t path = call == expert::kNoCallPath ? expert::kNone : report_.path_at(call);
    return path == expert::kNone ? Place() : place_of(report_.program_site(path));
  }

  void add_lines(const CauseGroup& group, GroupCard& card) const {
    const Definitions& definitions = report_.definitions();
    if (!is_absent(group.place)) {
      const Place hottest = place_of(group.place);
      std::map<long, double> lines;
      double all = 0;
      const std::string name = report_.region_name(group.function);
      for (const std::uint32_t c : group.causes) {
        for (const expert::SampledPlace& p : causes_.causes[c].lines) {
          const CallSiteDef* site = definitions.call_sites.find(p.site);
          const Place at = place_of(p.site);
          if (site == nullptr || at.file != hottest.file) continue;
          if (report_.region_name(site->left) != name) continue;
          lines[at.line] += p.samples;
          all += p.samples;
        }
      }
      card.lines.file = hottest.file;
      const RegionDef* region = definitions.regions.find(group.function);
      if (region != nullptr && !is_absent(region->begin) && region->file == hottest.file) {
        card.lines.begin = static_cast<long>(raw(region->begin));
      }
      constexpr double kHot = 0.05;
      for (const auto& [line, samples] : lines) {
        if (samples < kHot * all) continue;
        card.lines.hot.emplace_back(line, unbroken(expert::short_share(samples, all)));
      }
      if (card.lines.hot.empty()) card.lines.hot.emplace_back(hottest.line, "");
      return;
    }
    if (group.kind == expert::Stretch::Kind::kCall) {
      const Place call = of_call(group.stretch.path);
      card.lines.file = call.file;
      card.lines.before = call.line;
      return;
    }
    std::vector<Frame> after = frames_of(group.stretch.before);
    std::vector<Frame> before = frames_of(group.stretch.after);
    if (before.empty()) std::swap(before, after);
    if (before.empty()) return;
    card.lines.file = before.front().place.file;
    card.lines.before = before.front().place.line;
    for (const Frame& first : after) {
      for (const Frame& last : before) {
        if (first.function != last.function || first.place.file != last.place.file) continue;
        card.lines.file = last.place.file;
        card.lines.after = first.place.line;
        card.lines.before = last.place.line;
        return;
      }
    }
  }

  // A function on the way to a call, and where it calls the next one.
  struct Frame {
    std::string function;
    Place place;
  };
  std::string function_at(const CallSiteDef& site, std::size_t around) const {
    if (!is_absent(site.left)) return report_.region_name(site.left);
    return around == expert::kNone ? std::string()
                                   : report_.region_name(report_.call_paths()[around].region);
  }
  // Innermost first, as far as call sites tell, and regions around the call that have one.
  std::vector<Frame> frames_of(expert::CallPathIndex call) const {
    std::vector<Frame> frames;
    const Definitions& definitions = report_.definitions();
    // `around`: the region that is open there, in the tree.
    const auto add = [&](CallSiteId id, std::size_t around) {
      for (const CallSiteDef* site = definitions.call_sites.find(id); site != nullptr;
           site = definitions.call_sites.find(id)) {
        Frame frame{function_at(*site, around), place_of(id)};
        const bool known =
            !frames.empty() && !frame.function.empty() && frames.back().function == frame.function;
        if (!known && frame.place.line != 0) frames.push_back(std::move(frame));
        if (is_absent(site->caller) || frames.size() > kMostSiteCallers) break;
        id = site->caller;
        around = expert::kNone;
      }
    };
    const std::vector<expert::CallPathNode>& paths = report_.call_paths();
    std::size_t path = call == expert::kNoCallPath ? expert::kNone : report_.path_at(call);
    if (path == expert::kNone) return frames;
    if (const std::size_t library = report_.library_call(path); library != expert::kNone) {
      path = library;
    }
    for (; path != expert::kNone; path = paths[path].parent) {
      if (!paths[path].named) add(paths[path].site, paths[path].parent);
    }
    return frames;
  }

  // Three at most, of those with a tenth of the largest.
  template <class Get>
  static std::vector<std::size_t> largest(const CauseGroup& group, Get get) {
    constexpr std::size_t kMost = 3;
    std::vector<const CauseGroup::Rank*> ranks;
    for (const CauseGroup::Rank& r : group.ranks) ranks.push_back(&r);
    std::stable_sort(ranks.begin(), ranks.end(),
                     [&](const auto* a, const auto* b) { return get(*a) > get(*b); });
    std::vector<std::size_t> rows;
    for (const CauseGroup::Rank* r : ranks) {
      if (rows.size() == kMost || !(get(*r) > 0) || get(*r) * 10 < get(*ranks.front())) break;
      rows.push_back(r->location);
    }
    return rows;
  }

  void add_profile(const CauseGroup& group, GroupCard& card) const {
    std::vector<ProfileColumn> columns;
    if (group.shape == CauseGroup::Shape::kPairs) {
      std::map<LocationIndex, const CauseGroup::Rank*> ranks;
      for (const CauseGroup::Rank& r : group.ranks) ranks[r.location] = &r;
      std::vector<const CauseGroup::Unit*> units;
      for (const CauseGroup::Unit& u : group.units) units.push_back(&u);
      std::sort(units.begin(), units.end(),
                [](const auto* a, const auto* b) { return a->members < b->members; });
      for (const CauseGroup::Unit* u : units) {
        ProfileColumn column{expert::those(report_, u->members), 0, 0};
        for (const LocationIndex l : u->members) {
          const auto r = ranks.find(l);
          if (r == ranks.end()) continue;
          column.makes_wait += in_seconds(r->second->makes_wait);
          column.waits += in_seconds(r->second->waits);
        }
        columns.push_back(std::move(column));
      }
    } else {
      for (std::size_t t = 0; t < report_.threads(); ++t) {
        columns.push_back({report_.thread_name(t), 0, 0});
      }
      for (const CauseGroup::Rank& r : group.ranks) {
        const std::size_t t = report_.thread_at(r.location);
        if (t >= columns.size()) continue;
        columns[t].makes_wait += in_seconds(r.makes_wait);
        columns[t].waits += in_seconds(r.waits);
      }
    }
    const std::size_t each = (columns.size() + kColumns - 1) / kColumns;
    const char* const one =
        group.shape == CauseGroup::Shape::kPairs ? " sets of processes" : " processes";
    card.profile_of = each > 1 ? grouped(columns.size()) + one + ", " + std::to_string(each) +
                                     " in a column (its largest)"
                               : std::string();
    for (std::size_t i = 0; each > 1 && i < columns.size(); ++i) {
      ProfileColumn& column = columns[i / each];
      if (i % each == 0) {
        column = columns[i];
        continue;
      }
      if (i % each + 1 == each || i + 1 == columns.size()) {
        column.name += " to " + columns[i].name;
      }
      column.makes_wait = std::max(column.makes_wait, columns[i].makes_wait);
      column.waits = std::max(column.waits, columns[i].waits);
    }
    if (each > 1) columns.resize((columns.size() + each - 1) / each);
    card.profile = std::move(columns);
  }

  const Report& report_;
  const expert::RootCauses& causes_;
  double run_;
};

}  // namespace

std::string unbroken(std::string text) {
  for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos; ++at) {
    if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9') continue;
    const std::size_t end = text.find_first_of(" .,;)", at + 1);
    const std::string_view word = std::string_view(text).substr(at + 1, end - at - 1);
    if (!expert::is_unit(word)) continue;
    text.replace(at, 1, "\u00a0");
  }
  return text;
}

VerdictPart verdict_part(const Report& analysis) {
  VerdictPart part;
  const expert::Verdict verdict = expert::verdict_of(analysis);
  for (const Sentence& sentence : verdict.sentences) {
    part.sentences.push_back(said(analysis, verdict, sentence));
  }
  part.group = verdict.group;
  part.run_seconds = expert::run_seconds(analysis);
  add_bar(analysis, part);
  if (const auto efficiency = expert::efficiency_of(analysis)) {
    for (const expert::EfficiencyRow& row : expert::efficiency_rows(*efficiency)) {
      part.efficiency.push_back({row.depth, std::string(row.name), std::string(row.words),
                                 unbroken(expert::short_share(row.value, 1)), row.value});
    }
  }
  if (!analysis.root_causes()) return part;
  part.grouped = true;
  const expert::CauseGroups& groups = analysis.root_causes()->groups;
  const Cards cards(analysis);
  for (std::size_t g = 0; g < groups.listed.size(); ++g) {
    part.groups.push_back(cards.card(groups.listed[g], std::to_string(g + 1)));
  }
  if (part.groups.empty()) return part;
  part.said = unbroken(expert::groups_said(groups));
  const std::size_t told = part.group.value_or(0);
  const std::uint32_t most = part.groups[told].cause;
  const bool chain = most < analysis.root_causes()->causes.size() &&
                     groups.listed[told].deadlock == expert::kNoDeadlock &&
                     !analysis.root_causes()->causes[most].chain.links.empty();
  if (chain) {
    part.chain_said = unbroken("The chain behind " +
                               expert::short_time(analysis.root_causes()->causes[most].seconds) +
                               " of group " + part.groups[told].number + ".");
  }
  return part;
}

}  // namespace kojak::html

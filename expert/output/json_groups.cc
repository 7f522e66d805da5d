#include "expert/output/json_groups.h"

#include "expert/findings/group_words.h"
#include "expert/findings/verdict.h"
#include "expert/patterns/catalogue.h"
#include "expert/profile/what_if.h"

namespace kojak::expert {
namespace {

using html::Json;

constexpr std::size_t kMostRanks = 4096, kMostOdd = 100;

std::string_view kind_of(const Report& report, const CauseGroup& group) {
  static constexpr std::string_view kKinds[] = {"before_recording", "computing", "call",
                                                "overhead",         "starting",  "answering"};
  static_assert(std::size(kKinds) == std::size_t{Stretch::kKinds});
  if (group.deadlock != kNoDeadlock) return "deadlock";
  if (group.spread != CauseGroup::Spread::kNo) return "spread";
  if (group.kind == Stretch::Kind::kComputing) {
    switch (spent_by(report, group)) {
      case Spent::kBlocked:
        return "blocked";
      case Spent::kNoProcessor:
        return "no_processor";
      case Spent::kOutside:
        return "outside";
      default:
        break;
    }
  }
  return kKinds[static_cast<std::size_t>(group.kind)];
}

std::string_view shape_of(const CauseGroup& group) {
  switch (group.shape) {
    case CauseGroup::Shape::kPairs:
      return !group.units.empty() && group.units.front().members.size() > 2 ? "teams" : "pairs";
    case CauseGroup::Shape::kTurns:
      return "turns";
    case CauseGroup::Shape::kFew:
      return group.few.size() == 1 ? "one" : "few";
    default:
      return "all";
  }
}

class Groups {
 public:
  Groups(Json& json, const Report& report) : json_(json), report_(report) {}

  void add(const CauseGroup& group, const std::string& number, Amount all) {
    json_.begin_object().member("number", number).member("kind", kind_of(report_, group));
    json_.member("shape", shape_of(group));
    add_place(group);
    add_path("after", group.stretch.before);
    add_path("before", group.stretch.after);
    json_.member("seconds", in_seconds(group.amount));
    json_.member("share", all > 0 ? in_seconds(group.amount) / in_seconds(all) : 0);
    json_.member("longer", in_seconds(group.longer));
    add_spending(json_, spending_of(report_, group));
    if (group.gain) json_.member("gain", in_seconds(*group.gain));
    if (group.cumulated) json_.member("cumulated", in_seconds(*group.cumulated));
    if (group.spread != CauseGroup::Spread::kNo) json_.member("functions", group.functions);
    json_.member("words", who_column(report_, group) + ": " + what_column(report_, group));
    add_ranks(group);
    add_units(group);
    json_.key("patterns").begin_array();
    for (const auto& [metric, amount] : group.patterns) {
      json_.begin_object()
          .member("metric", all_metrics()[metric].name)
          .member("seconds", in_seconds(amount))
          .end_object();
    }
    json_.end_array().key("causes").begin_array();
    for (const std::uint32_t cause : group.causes) json_.value(cause);
    json_.end_array().key("parts").begin_array();
    for (std::size_t i = 0; i < group.parts.size(); ++i) {
      add(group.parts[i], number + static_cast<char>('a' + i % 26), all);
    }
    json_.end_array().end_object();
  }

 private:
  void add_place(const CauseGroup& group) {
    if (!is_absent(group.function)) {
      json_.member("function", report_.region_name(group.function));
    }
    const Definitions& definitions = report_.definitions();
    const auto place = [&](CallSiteId id, const char* file_key, const char* line_key) {
      const CallSiteDef* site = is_absent(id) ? nullptr : definitions.call_sites.find(id);
      if (site == nullptr) return false;
      const std::string* file = definitions.files.find(site->file);
      if (file != nullptr) json_.member(file_key, *file);
      if (!is_absent(site->line)) json_.member(line_key, raw(site->line));
      return true;
    };
    if (!place(group.place, "file", "line") && !is_absent(group.function)) {
      const RegionDef* region = definitions.regions.find(group.function);
      if (region != nullptr && !region->file.empty()) json_.member("file", region->file);
    }
    if (is_absent(group.caller.function)) return;
    json_.member("caller", report_.region_name(group.caller.function));
    place(group.caller.call, "caller_file", "caller_line");
  }
  void add_path(const char* key, CallPathIndex index) {
    const std::size_t path = index == kNoCallPath ? kNone : report_.path_at(index);
    if (path != kNone) json_.member(key, path);
  }
  std::uint32_t rank_of(LocationIndex location) const {
    const std::size_t thread = report_.thread_at(location);
    const LocationDef* def =
        thread == kNone ? nullptr
                        : report_.definitions().locations.find(report_.thread_location(thread));
    return def == nullptr ? location : raw(def->process);
  }
  void add_ranks(const CauseGroup& group) {
    json_.key("ranks").begin_array();
    for (std::size_t i = 0; i < group.ranks.size() && i < kMostRanks; ++i) {
      const CauseGroup::Rank& r = group.ranks[i];
      json_.begin_object()
          .member("rank", rank_of(r.location))
          .member("thread", report_.thread_at(r.location))
          .member("makes_wait", in_seconds(r.makes_wait))
          .member("waits", in_seconds(r.waits))
          .end_object();
    }
    json_.end_array();
  }
  void add_units(const CauseGroup& group) {
    if (group.units.empty()) return;
    json_.key("units")
        .begin_object()
        .member("count", group.units.size())
        .member("size", group.units.front().members.size())
        .member("median", in_seconds(group.median))
        .member("even", group.even);
    if (group.odd_gain) json_.member("odd_gain", in_seconds(*group.odd_gain));
    json_.key("odd").begin_array();
    for (std::size_t i = 0; i < group.odd && i < kMostOdd; ++i) {
      json_.begin_object().member("seconds", in_seconds(group.units[i].amount));
      json_.key("ranks").begin_array();
      for (const LocationIndex l : group.units[i].members) json_.value(rank_of(l));
      json_.end_array().end_object();
    }
    json_.end_array().end_object();
  }

  Json& json_;
  const Report& report_;
};

}  // namespace

void add_spending(Json& json, const std::optional<Spending>& spent) {
  static constexpr std::string_view kKinds[] = {"", "pauses", "page faults", "files", ""};
  static_assert(std::size(kKinds) == kBlockedKinds);
  if (!spent) return;
  json.member("ran", spent->ran).member("blocked", spent->blocked);
  const std::string_view kind = kKinds[static_cast<std::size_t>(spent->kind)];
  if (!kind.empty()) json.member("blocked_by", kind);
  json.member("no_processor", spent->no_processor);
}

void add_verdict(Json& json, const Report& report) {
  const Verdict verdict = verdict_of(report);
  json.key("verdict").begin_object().key("kinds").begin_array();
  for (const std::string& kind : verdict.kinds) json.value(kind);
  json.end_array().key("words").begin_array();
  for (const Sentence& s : verdict.sentences) {
    if (s.is != Sentence::Is::kTry) json.value(text_of(s.said));
  }
  json.end_array().member("share", verdict.share);
  if (verdict.group) json.member("group", *verdict.group);
  if (verdict.gain) json.member("gain", *verdict.gain);
  const Sentence* advice = verdict.find(Sentence::Is::kTry);
  json.member("try", advice == nullptr ? std::string() : text_of(advice->said)).end_object();
  const Bar bar = bar_of(report);
  json.key("bar").begin_object().member("base", bar.whole());
  for (std::size_t p = 0; p < Bar::kParts; ++p) {
    json.member(Bar::kNames[p], bar.seconds(static_cast<Bar::Part>(p)));
  }
  json.end_object();
}

void add_what_if(Json& json, const Report& report) {
  if (!report.root_causes()) return;
  json.key("what_if").begin_array();
  for (const WhatIf& without : what_if(report)) {
    json.begin_object().member("case", without.name).member("run", without.run);
    json.member("gain", without.gain).end_object();
  }
  json.end_array();
}

void add_groups(Json& json, const Report& report) {
  if (!report.root_causes()) return;
  const CauseGroups& groups = report.root_causes()->groups;
  json.key("groups").begin_array();
  Groups add(json, report);
  for (std::size_t i = 0; i < groups.listed.size(); ++i) {
    add.add(groups.listed[i], std::to_string(i + 1), groups.all);
  }
  json.end_array()
      .key("groups_left_out")
      .begin_object()
      .member("count", groups.left_out)
      .member("seconds", in_seconds(groups.left_out_amount))
      .end_object()
      .member("not_attributed", in_seconds(groups.not_attributed));
}

}  // namespace kojak::expert

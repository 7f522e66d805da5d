#include "expert/findings/card_words.h"

#include <algorithm>

#include "epilog/format/text/counts.h"
#include "expert/findings/bar.h"
#include "expert/findings/group_words.h"
#include "expert/findings/numbers.h"
#include "expert/findings/processor_words.h"
#include "expert/findings/rules.h"
#include "expert/patterns/catalogue.h"

namespace kojak::expert {
namespace {

using Shape = CauseGroup::Shape;

constexpr double kPassedOnToSay = 0.005;  // of the group

bool several(const CauseGroup& group) {
  return group.shape == Shape::kFew ? group.few.size() > 1 : group.units.size() > 1;
}

std::string computing_title(const Report& report, const CauseGroup& group) {
  const std::string who = who_column(report, group);
  const std::string function = function_words(report, group.function);
  const bool many = several(group);
  if (group.shape == Shape::kPairs) return who + " wait for " + what_column(report, group);
  if (group.shape == Shape::kTurns) return who + " take turns in " + what_column(report, group);
  const double longer = in_seconds(group.longer);
  // With its lines only where these, or more, tell it from another group of the function.
  const std::vector<CauseGroup>& listed = report.root_causes()->groups.listed;
  const bool alone = std::none_of(listed.begin(), listed.end(), [&](const CauseGroup& g) {
    return &g != &group && function_words(report, g.function) == function &&
           who_column(report, g) == who;
  });
  const std::string in = function.empty() ? what_column(report, group)
                         : alone          ? "in " + function
                                          : "in " + where_of(report, group);
  const std::string time = short_time(longer) + (group.compared ? " longer " : " ");
  switch (spent_by(report, group)) {
    case Spent::kBlocked: {
      const Spending spent = *spending_of(report, group);
      return who + (many ? " are blocked " : " is blocked ") + short_times(spent.blocked, longer) +
             blocked_by(spent.kind, many) + ' ' + in;
    }
    case Spent::kNoProcessor:
      return who + (many ? " have" : " has") + " no processor for " +
             short_times(without_processor_of(report, group), longer) + ' ' + in;
    case Spent::kOutside:
      return who + (many ? " are " : " is ") + time + "outside of " + library_of(report) + ' ' + in;
    default:
      return who + (many ? " compute " : " computes ") + time + in;
  }
}

}  // namespace

std::string title_of(const Report& report, const CauseGroup& group) {
  const std::string who = who_column(report, group), what = what_column(report, group);
  if (group.deadlock < report.last_calls().deadlocks.size()) return who + ": " + what;
  if (group.spread != CauseGroup::Spread::kNo) return what;
  switch (group.kind) {
    case Stretch::Kind::kCall:
      return where_of(report, group) + " itself takes longer on " + who;
    case Stretch::Kind::kOverhead:
      return what + " takes longer on " + who;
    case Stretch::Kind::kComputing:
      return computing_title(report, group);
    case Stretch::Kind::kAnswering:
      return answering_words(report, group);
    default:
      return who + ' ' + what;
  }
}

std::string gain_of_card(const Report& report, double run, const CauseGroup& group) {
  const std::optional<Gain> gain = gain_to_say(report, run, group.gain);
  if (!gain) return {};
  return gain->worth ? gain_said(short_time(gain->seconds)) : no_gain_words(report);
}

std::string groups_said(const CauseGroups& groups) {
  Amount listed = 0;
  for (const CauseGroup& g : groups.listed) listed += g.amount;
  std::string said = counted(groups.listed.size(), "group is ", "groups are ") +
                     short_share(in_seconds(listed), in_seconds(groups.all)) + " of " +
                     short_time(in_seconds(groups.all)) + " of waiting.";
  std::string left;
  if (groups.left_out > 0) {
    left = short_time(in_seconds(groups.left_out_amount)) + " in " + grouped(groups.left_out) +
           " more below 1 % each";
  }
  if (in_seconds(groups.not_attributed) > 0) {
    left += (left.empty() ? "" : ", ") + short_time(in_seconds(groups.not_attributed)) +
            " not attributed";
  }
  return left.empty() ? said : said + ' ' + left + '.';
}

std::string patterns_said(const CauseGroup& group) {
  constexpr std::size_t kMost = 4;
  auto patterns = group.direct_patterns;
  std::stable_sort(patterns.begin(), patterns.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string said;
  for (std::size_t i = 0; i < patterns.size() && i < kMost; ++i) {
    const auto& [metric, amount] = patterns[i];
    if (!(amount > 0)) break;
    said += (said.empty() ? "" : ", ") + std::string(all_metrics()[metric].title) + ' ' +
            short_time(in_seconds(amount));
  }
  const Amount behind = group.amount - group.direct;
  if (in_seconds(behind) > kPassedOnToSay * in_seconds(group.amount)) {
    said += (said.empty() ? "passed on " : ", passed on ") + short_time(in_seconds(behind));
  }
  return said;
}

}  // namespace kojak::expert

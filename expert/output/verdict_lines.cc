// Long because each of the twelve lines is made here.
#include "expert/output/verdict_lines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ostream>
#include <sstream>
#include <vector>

#include "epilog/format/run_property_keys.h"
#include "epilog/format/text/counts.h"
#include "epilog/format/text/printable.h"
#include "expert/findings/bar.h"
#include "expert/findings/group_words.h"
#include "expert/findings/numbers.h"
#include "expert/findings/rules.h"
#include "expert/findings/short_names.h"
#include "expert/findings/verdict.h"
#include "expert/profile/shares.h"

namespace kojak::expert {
namespace {

constexpr unsigned kLines = 12, kNarrowest = 46, kWidest = 200, kUsual = 80;

std::string padded(std::string text, std::size_t width, bool right) {
  const std::size_t have = width_of(text);
  if (have >= width) return text;
  const std::string blanks(width - have, ' ');
  return right ? blanks + text : text + blanks;
}

class Lines {
 public:
  Lines(const Report& report, const SummaryStyle& style, const VerdictPlace& place)
      : report_(report),
        place_(place),
        width_(std::clamp(style.width, kNarrowest, kWidest) - 1),
        narrow_(width_ + 1 < kUsual),
        colours_(style.colours),
        verdict_(verdict_of(report)),
        bar_(bar_of(report)),
        run_(run_seconds(report)) {}

  std::string text() {
    add(heading());
    const std::string bar = bar_.base > 0 ? bar_text() : std::string();
    const auto rest = static_cast<std::size_t>(std::count(bar.begin(), bar.end(), '\n'));
    const std::size_t last = place_.last.empty() ? 0 : 1;
    const std::vector<std::string> rows = group_rows();
    // The verdict has four lines, more where there are few groups or they may go, but for the
    // first.
    const std::size_t always = 1 + rest + last;
    const std::size_t least = always + (rows.empty() ? 0 : 2);
    const std::size_t wanted = always + (rows.empty() ? 0 : 1 + rows.size());
    const std::vector<std::string> said =
        verdict_lines(kLines - std::min<std::size_t>(wanted, kLines), kLines - least);
    for (const std::string& line : said) lines_ += line + '\n';
    lines_ += bar;
    std::size_t used = always + said.size();
    if (!rows.empty()) {
      add(group_heading());
      ++used;
      const std::size_t room =
          narrow_ ? rows.size()
                  : std::max<std::size_t>(kLines - std::min<std::size_t>(used, kLines), 1);
      shown_ = std::min(rows.size(), room);
      for (std::size_t i = 0; i < shown_; ++i) lines_ += rows[i] + '\n';
      used += shown_;
    }
    if (used < kLines || narrow_) add_left_out();
    if (last != 0) lines_ += last_line();
    return std::move(lines_);
  }

 private:
  void add(const std::string& line) { lines_ += cut_middle(line, width_) + '\n'; }
  std::string bold(const std::string& text) const {
    return colours_ ? "\x1b[1m" + text + "\x1b[0m" : text;
  }

  std::string heading() const {
    const std::size_t processes = report_.processes();
    std::size_t nodes = 0;
    std::string host;
    for (const MachineNode& machine : report_.machines()) {
      for (const HostNode& node : machine.nodes) {
        if (!node.known) continue;
        host = node.name;
        ++nodes;
      }
    }
    std::string name;
    report_.definitions().properties.for_each(
        [&](const std::string& key, ProcessId, const std::string& value) {
          if (key != run_property::kCommand || !name.empty()) return;
          name = value.substr(0, value.find(' '));
        });
    if (name.empty()) name = place_.trace;
    name = name.substr(name.rfind('/') + 1);
    std::string end = ": " + counted(processes, "process", "processes");
    if (report_.threads() != processes) {
      end += ", " + counted(report_.threads(), "thread", "threads") + ',';
    }
    if (nodes > 1) {
      end += " on " + counted(nodes, "node", "nodes");
    } else if (nodes == 1) {
      end += " on " + cut_middle(host, 30);
    }
    if (run_ > 0) {
      end += report_.last_calls().empty() ? ", " : ", ended after ";
      end += short_time(run_);
    }
    const std::size_t room = width_ > width_of(end) + 8 ? width_ - width_of(end) : 8;
    return cut_middle(name, room) + end;
  }

  static bool ends_a_number(std::string_view word) {
    while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos) {
      word.remove_suffix(1);
    }
    return is_unit(word);
  }
  std::vector<std::string> wrap(const std::string& text) const {
    std::vector<std::string> words, lines;
    std::istringstream all(text);
    for (std::string word; all >> word;) {
      // A number stays with its unit.
      if (!words.empty() && std::isdigit(static_cast<unsigned char>(words.back().back())) &&
          ends_a_number(word)) {
        words.back() += ' ' + word;
      } else {
        words.push_back(word);
      }
    }
    std::string line;
    for (std::string word : words) {
      word = cut_middle(word, width_);
      if (!line.empty() && width_of(line) + 1 + width_of(word) > width_) {
        lines.push_back(line);
        line.clear();
      }
      line += line.empty() ? word : ' ' + word;
    }
    if (!line.empty()) lines.push_back(line);
    return lines;
  }

  // `good`: so many lines take nothing away from the groups; `most`: there cannot be more.
  std::vector<std::string> verdict_lines(std::size_t good, std::size_t most) const {
    const auto with = [&](bool advice, bool not_attributed, bool names) {
      std::string text;
      for (const Sentence& s : verdict_.sentences) {
        if (s.is == Sentence::Is::kTry && !advice) continue;
        if (s.is == Sentence::Is::kNotAttributed && !not_attributed) continue;
        const bool shorter = !names && !s.shorter.empty();
        text += (text.empty() ? "" : " ") + printable(text_of(shorter ? s.shorter : s.said));
      }
      return wrap(text);
    };
    constexpr std::size_t kUsualLines = 4;
    const std::size_t room = std::max(std::min(good, most), kUsualLines);
    std::vector<std::string> lines = with(true, true, true);
    if (lines.size() <= room || narrow_) return lines;
    for (int dropped = 1; dropped <= 3; ++dropped) {
      lines = with(false, dropped < 2, dropped < 3);
      if (lines.size() <= room) return lines;
    }
    if (lines.size() > most && most > 0) {  // of a deadlock of many
      lines.resize(most);
      lines.back() = cut_middle(lines.back() + " ...", width_);
    }
    return lines;
  }

  std::string bar_text() const {
    static constexpr std::array<char, Bar::kParts> kLetters{'#', '=', '.', 'z', '!', '~'};
    static constexpr std::array<int, Bar::kParts> kColours{37, 34, 33, 36, 35, 90};
    std::array<double, Bar::kParts> parts{};
    for (std::size_t p = 0; p < Bar::kParts; ++p)
      parts[p] = bar_.seconds(static_cast<Bar::Part>(p));
    const std::vector<unsigned> letters = whole_parts(parts, width_ - 2, kPartOfBar);
    std::string bar = "[", legend;
    for (std::size_t p = 0; p < Bar::kParts; ++p) {
      if (letters[p] == 0) continue;
      const std::string part(letters[p], kLetters[p]);
      bar += colours_ ? "\x1b[" + std::to_string(kColours[p]) + "m" + part + "\x1b[0m" : part;
      const auto which = static_cast<Bar::Part>(p);
      legend += std::string(legend.empty() ? " " : "  ") + kLetters[p] + ' ' +
                name_of(which, report_) + ' ' + share_words(bar_, which);
    }
    bar += "]\n";
    // Closer together, then in as many lines as it takes.
    if (width_of(legend) > width_) {
      for (std::size_t at = 1; (at = legend.find("  ", at)) != std::string::npos;)
        legend.erase(at, 1);
    }
    if (width_of(legend) > width_) {
      for (std::size_t at = 0; (at = legend.find(" %", at)) != std::string::npos;)
        legend.erase(at, 1);
    }
    if (width_of(legend) <= width_) {
      return bar + legend + '\n';
    }
    for (const std::string& line : wrap(legend)) bar += cut_middle(line, width_) + '\n';
    return bar;
  }

  // ---- groups

  static constexpr std::size_t kWho = 12;

  std::string group_heading() const {
    return narrow_ ? bold("   waits    gain  who: where")
                   : bold("       waits      gain  who          where");
  }
  std::string row(const std::string& number, double waits, const std::optional<Ticks>& gain,
                  const std::string& who, const std::string& what) const {
    const std::optional<Gain> gained = gain_to_say(report_, run_, gain);
    const std::string gain_text = gained && gained->worth ? short_time(gained->seconds) : "-";
    std::string line = padded(number, 2, true);
    line += padded(short_time(waits), narrow_ ? 8 : 10, true) +
            padded(gain_text, narrow_ ? 8 : 10, true) + "  ";
    const std::size_t used = width_of(line);
    if (narrow_) {
      return line + cut_middle((who.empty() ? "" : who + ": ") + what, width_ - used);
    }
    const std::string name = cut_middle(who, kWho);
    line += colours_ ? bold(padded(name, kWho + 1, false)) : padded(name, kWho + 1, false);
    return line + shortened_name(what, width_ - used - kWho - 1);
  }
  // "ranks 0, 1", or their number where that is too long for the column.
  std::string who(const CauseGroup& group) const {
    std::string text = who_column(report_, group);
    if (const std::size_t at = text.find(" and "); at != std::string::npos) {
      text.replace(at, 5, ", ");
    }
    for (const std::string_view thread : {", thread ", " thread "}) {
      const std::size_t at = width_of(text) > kWho ? text.find(thread) : text.npos;
      if (at != text.npos) text.replace(at, thread.size(), " th ");
    }
    if (width_of(text) > kWho) {
      for (std::size_t at = 0; (at = text.find(", ", at)) != std::string::npos;)
        text.erase(++at, 1);
    }
    if (width_of(text) <= kWho || group.shape != CauseGroup::Shape::kFew) return text;
    return group.few.size() > 1 ? std::to_string(group.few.size()) + " processes" : text;
  }
  std::string what(const CauseGroup& group) const {
    std::string text = what_column(report_, group);
    const std::vector<Deadlock>& deadlocks = report_.last_calls().deadlocks;
    if (group.deadlock < deadlocks.size()) {
      double since = 0;
      for (const LastCall& call : report_.last_calls().calls) {
        const std::vector<std::uint32_t>& ranks = deadlocks[group.deadlock].ranks;
        const bool in = std::find(ranks.begin(), ranks.end(), call.process) != ranks.end();
        if (in) since = std::max(since, call.since.value);
      }
      return text + ", since " + short_time(since);
    }
    if (group.shape == CauseGroup::Shape::kPairs && group.even && group.odd == 0) {
      text += ", " + short_time(in_seconds(group.median)) + " each";
    }
    if (const Chain* chain = chain_of(report_, group); chain != nullptr) {
      std::vector<LocationIndex> waiting;
      for (const ChainLink& link : chain->links) waiting.push_back(link.waiter);
      if (waiting.size() <= 3) {
        std::string names;
        for (std::size_t i = waiting.size(); i-- > 0;) {
          std::string name = those(report_, {waiting[i]});
          const std::string word = report_.process_word() + ' ';
          if (name.starts_with(word)) name = name.substr(word.size());
          names += (names.empty() ? "" : i == 0 ? " and " : ", ") + name;
        }
        text += "; " + names + " wait in turn";
      }
    }
    return text;
  }

  std::vector<std::string> group_rows() {
    constexpr std::size_t kMost = 3;
    std::vector<std::string> rows;
    if (!report_.root_causes() || verdict_.share < kWorthLooking) return rows;
    const CauseGroups& groups = report_.root_causes()->groups;
    for (std::size_t g = 0; g < groups.listed.size() && rows.size() < kMost; ++g) {
      const CauseGroup& group = groups.listed[g];
      rows.push_back(row(std::to_string(g + 1), in_seconds(group.amount), group.gain, who(group),
                         what(group)));
      of_row_.push_back(&group);
      const bool most = group.amount * 10 >= groups.all * 9;
      if (g != 0 || !most) continue;
      add_parts(group, rows);
    }
    return rows;
  }
  void add_parts(const CauseGroup& group, std::vector<std::string>& rows) {
    for (std::size_t i = 0; i < group.parts.size() && i < 2; ++i) {
      const CauseGroup& part = group.parts[i];
      rows.push_back(row(std::string(1, static_cast<char>('a' + i)), in_seconds(part.amount),
                         part.gain, "", from_words(report_, part, true)));
      of_row_.push_back(nullptr);
    }
    if (!group.parts.empty() || group.odd == 0 || group.shape != CauseGroup::Shape::kPairs) return;
    const CauseGroup::Unit& odd = group.units.front();
    Amount odd_ones = 0;
    for (std::size_t i = 0; i < group.odd; ++i) odd_ones += group.units[i].amount;
    const std::size_t others = group.units.size() - group.odd;
    rows.push_back(row("a", in_seconds(odd_ones), group.odd_gain, those(report_, {odd.culprit}),
                       group.odd == 1 ? "the odd one: " + those(report_, {odd.victim}) + " waits"
                                      : "and " + std::to_string(group.odd - 1) + " more odd ones"));
    rows.push_back(row("b", in_seconds(group.amount - odd_ones), {}, grouped(others) + " pairs",
                       (group.even ? "evenly, " : "") + short_time(in_seconds(group.median)) +
                           (group.even ? " each" : " in the middle")));
    of_row_.insert(of_row_.end(), 2, nullptr);
  }

  void add_left_out() {
    if (!report_.root_causes()) return;
    const CauseGroups& groups = report_.root_causes()->groups;
    if (verdict_.share < kWorthLooking) {
      const double waiting = bar_.seconds(Bar::kWaiting);
      if (waiting < kWorthListing * bar_.whole() || groups.listed.empty()) return;
      const CauseGroup& first = groups.listed.front();
      return add(short_time(waiting) + " of waiting, less than 1 %: " + who_column(report_, first) +
                 ", " + what_column(report_, first) + ".");
    }
    std::size_t count = groups.left_out;
    Amount amount = groups.left_out_amount, most = groups.left_out_most;
    std::size_t told = 0;
    for (std::size_t i = 0; i < shown_; ++i) told += of_row_[i] != nullptr ? 1 : 0;
    for (std::size_t g = told; g < groups.listed.size(); ++g) {
      ++count;
      amount += groups.listed[g].amount;
      most = std::max(most, groups.listed[g].amount);
    }
    std::string text;
    if (count != 0) {
      text = short_time(in_seconds(amount)) + " in " + grouped(count) + " more";
      if (most * 100 < groups.all) text += count == 1 ? " below 1 %" : " below 1 % each";
    }
    if (in_seconds(groups.not_attributed) >= kWorthListing * in_seconds(groups.all)) {
      text += (text.empty() ? "" : ", ") + short_time(in_seconds(groups.not_attributed)) +
              " not attributed";
    }
    if (!text.empty()) add(text + '.');
  }

  std::string last_line() const {
    const std::string line = printable(place_.last);
    return narrow_ ? cut_middle(line, width_) + '\n' : line + '\n';
  }

  const Report& report_;
  const VerdictPlace& place_;
  unsigned width_;
  bool narrow_, colours_;
  Verdict verdict_;
  Bar bar_;
  double run_;
  std::string lines_;
  std::vector<const CauseGroup*> of_row_;  // null: a part
  std::size_t shown_ = 0;
};

}  // namespace

void print_verdict(std::ostream& out, const Report& report, const SummaryStyle& style,
                   const VerdictPlace& place) {
  out << Lines(report, style, place).text();
}

}  // namespace kojak::expert

#include "merge/summary.h"

#include <cstdio>

#include "epilog/format/in_number.h"
#include "epilog/format/record/records.h"

namespace kojak::merge {

const FindingInfo& finding_info(Finding finding) {
  static constexpr FindingInfo kInfos[] = {
#define KOJAK_FINDING(Name, severity, text, advice) {#Name, Severity::severity, text, advice},
      KOJAK_FINDINGS
#undef KOJAK_FINDING
  };
  return kInfos[static_cast<std::size_t>(finding)];
}

bool Summary::suspect() const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].count != 0 &&
        finding_info(static_cast<Finding>(i)).severity == Severity::kWarning) {
      return true;
    }
  }
  return false;
}

namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string counted(std::uint64_t count, const char* one, const char* several) {
  return std::to_string(count) + ' ' + (count == 1 ? one : several);
}

void row(std::string& text, std::string_view name, std::uint64_t count) {
  constexpr std::size_t kName = 38, kCount = 14;
  std::string digits = std::to_string(count);
  text += "  ";
  text += name;
  if (name.size() + digits.size() < kName + kCount) {
    text.append(kName + kCount - name.size() - digits.size(), ' ');
  }
  text += ' ' + digits + '\n';
}

}  // namespace

std::string clock_text(const ClockReport& c) {
  std::string text = "clocks: " + std::to_string(c.violations_before) + " of " +
                     std::to_string(c.checked) + " dependencies ran backwards, by up to " +
                     number(c.worst_before) + " s; " + std::to_string(c.violations_after) +
                     " do after events were moved by up to " + number(c.largest_shift) + " s";
  if (c.stretched != 0) {
    text += "; " + counted(c.stretched, "interval", "intervals") +
            " grew by more than 1 %, by up to " + number(c.largest_step) + " s";
  }
  if (c.unchecked != 0) text += "; " + std::to_string(c.unchecked) + " could not be checked";
  return text;
}

std::vector<Message> messages_of(const Summary& summary) {
  std::vector<Message> messages;
  // Clocks that were found right are not worth a message.
  if (summary.clocks && summary.clocks->violations_before != 0) {
    messages.push_back({Severity::kNote, clock_text(*summary.clocks)});
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(Finding::kCount); ++i) {
    const auto finding = static_cast<Finding>(i);
    const FindingRow& row = summary[finding];
    if (row.count == 0) continue;
    const FindingInfo& info = finding_info(finding);
    std::string text = std::to_string(row.count) + ' ' + in_number(info.text, row.count);
    if (!row.where.empty()) {
      text += " (" + std::string(row.count > 1 ? "first " : "") + row.where + ")";
    }
    // Circular locks with clocks that have been corrected already.
    const std::string_view advice =
        finding == Finding::kCircularLocks && summary.clocks
            ? "the traces contradict each other, corrected clocks or not"
            : info.advice;
    if (!advice.empty()) text += "; " + std::string(advice);
    messages.push_back({info.severity, std::move(text)});
  }
  return messages;
}

std::string summary_text(const Summary& s) {
  std::string text = counted(s.files, "local trace", "local traces") + " of " +
                     counted(s.processes, "process", "processes") + ": " +
                     counted(s.locations, "location", "locations") + ", " +
                     counted(s.events, "event", "events") + " in " + number(s.seconds) + " s\n";
  for (std::size_t type = 0; type < s.by_type.size(); ++type) {
    if (s.by_type[type] != 0) {
      row(text, record_name(static_cast<std::uint8_t>(type)), s.by_type[type]);
    }
  }
  row(text, "transfer ends moved", s.moved);
  row(text, "ends that did not fit into memory", s.reread);
  row(text, "transfers open at the end", s.open_ends);
  row(text, "regions open at the end", s[Finding::kOpenRegions].count);
  if (s.lock_epochs != 0) row(text, "lock epochs moved to their grants", s.lock_epochs);
  if (s.locks_by_duration + s.locks_by_request != 0) {
    row(text, "of them, order told by durations", s.locks_by_duration);
    row(text, "of them, order told by requests", s.locks_by_request);
  }
  if (s.clocks) text += clock_text(*s.clocks) + "\n";
  return text;
}

}  // namespace kojak::merge

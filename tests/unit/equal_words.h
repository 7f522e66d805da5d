// What must hold of the words of every report's groups: no two of them say the same, else nobody
// could tell them apart.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "expert/findings/card_words.h"
#include "expert/findings/group_words.h"

namespace kojak::expert {

// Words that two groups of the report, or two parts of one, have in common.
inline std::vector<std::string> equal_words(const Report& report) {
  std::vector<std::string> twice;
  if (!report.root_causes()) return twice;
  std::set<std::string> titles, columns;
  for (const CauseGroup& g : report.root_causes()->groups.listed) {
    const std::string title = title_of(report, g);
    if (!titles.insert(title).second) twice.push_back(title);
    const std::string column = who_column(report, g) + ": " + what_column(report, g);
    if (!columns.insert(column).second) twice.push_back(column);
    std::set<std::string> parts;
    for (const CauseGroup& part : g.parts) {
      const std::string from = from_words(report, part, true);
      if (!parts.insert(from).second) twice.push_back(column + ' ' + from);
    }
  }
  return twice;
}

}  // namespace kojak::expert

#include "expert/findings/tasks.h"

#include <algorithm>

#include "epilog/format/text/counts.h"
#include "expert/findings/wait_words.h"

namespace kojak::expert {

std::vector<TaskRow> task_rows(const Report& report) {
  constexpr std::size_t kNamed = 4;  // of those who executed them
  const auto thread = [&](LocationIndex location) {
    const std::size_t found = report.thread_at(location);
    return found == kNone ? std::string("another thread") : report.thread_name(found);
  };
  std::vector<TaskRow> rows;
  for (const CreatedTasks& tasks : report.tasks()) {
    TaskRow& row = rows.emplace_back();
    TimeSum sum;
    for (const CreatedTasks::Share& share : tasks.shares) {
      row.count += share.count;
      sum += share.sum;
    }
    row.seconds = sum.seconds();
    std::vector<CreatedTasks::Share> shares = tasks.shares;
    std::stable_sort(shares.begin(), shares.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    row.said.words(thread(tasks.creator) + ", ").names(call_name(report, tasks.call_path));
    std::string by = ";";
    for (std::size_t n = 0; n < shares.size() && n < kNamed; ++n) {
      by += std::string(n == 0 ? " " : ", ") + grouped(shares[n].count) + " by " +
            thread(shares[n].thread);
    }
    if (shares.size() > kNamed) {
      by += " and others by " + counted(shares.size() - kNamed, "thread", "threads");
    }
    row.said.words(by + '.');
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TaskRow& a, const TaskRow& b) { return a.seconds > b.seconds; });
  return rows;
}

}  // namespace kojak::expert

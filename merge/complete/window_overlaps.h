// Tells in the merged trace which windows lie over the same memory of a process, by what each
// process said of its parts (MPI_WIN_PART). Only of those in which some process polled, and of what
// meets these; a window that is gone counts, too, since its memory may be that of another.
//
// Between the first pass and the writing of definitions; n log n in the windows of a process.
#pragma once

#include <algorithm>
#include <set>

#include "epilog/format/window_memory.h"
#include "merge/complete/survey.h"

namespace kojak::merge {

class WindowOverlaps {
 public:
  WindowOverlaps(const std::vector<LocalTrace>& traces, Survey& survey) : survey_(survey) {
    for (const TraceFacts& facts : survey.traces) {
      for (const std::uint32_t wid : facts.polled_windows) {
        const std::uint32_t window = facts.translation->windows[wid];
        if (window != kAbsent) polled_.insert(window);
      }
    }
    if (polled_.empty()) return;
    std::map<std::uint32_t, std::map<std::uint32_t, WindowMemory>> parts;  // by rank and window
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const TraceFacts& facts = survey.traces[i];
      for (const auto& [wid, part] : facts.window_parts) {
        const std::uint32_t window = facts.translation->windows[wid];
        if (window >= survey.definitions.windows.size()) continue;  // of a damaged trace
        const bool dynamic = survey.definitions.windows[window].flavour == kFlavourDynamic;
        if (part.size == 0 && !dynamic) continue;
        parts[traces[i].rank][window] = {window, part.base, part.size};
      }
    }
    for (auto& [rank, windows] : parts) tell(rank, windows);
  }

 private:
  void tell(std::uint32_t rank, const std::map<std::uint32_t, WindowMemory>& windows) {
    std::vector<WindowMemory> all, shared;
    for (const auto& entry : windows) all.push_back(entry.second);
    std::stable_sort(all.begin(), all.end(), [](const WindowMemory& a, const WindowMemory& b) {
      return a.address < b.address;
    });
    // Those that hang together, one behind the other.
    for (std::size_t begin = 0, end; begin < all.size(); begin = end) {
      std::uint64_t reached = all[begin].end();
      bool asked = polled_.count(all[begin].window) != 0;
      for (end = begin + 1; end < all.size() && all[end].address < reached; ++end) {
        reached = std::max(reached, all[end].end());
        asked = asked || polled_.count(all[end].window) != 0;
      }
      if (asked && end - begin > 1) {
        shared.insert(shared.end(), all.begin() + static_cast<std::ptrdiff_t>(begin),
                      all.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
    constexpr std::size_t kOneText = 1000;  // of at most 53 characters each: a text has 64 KiB
    std::string key = run_property::kWindowsMemory;
    for (std::size_t from = 0; from < shared.size(); from += kOneText) {
      const std::vector<WindowMemory> some(
          shared.begin() + static_cast<std::ptrdiff_t>(from),
          shared.begin() + static_cast<std::ptrdiff_t>(std::min(from + kOneText, shared.size())));
      survey_.definitions.properties.set(key, static_cast<ProcessId>(rank), written(some));
      key = std::string(run_property::kWindowsMemory) + '.' + std::to_string(from / kOneText + 1);
    }
  }

  Survey& survey_;
  std::set<std::uint32_t> polled_;
};

}  // namespace kojak::merge

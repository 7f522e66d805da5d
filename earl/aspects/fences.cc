#include "earl/aspects/fences.h"

#include <algorithm>
#include <utility>

namespace kojak::earl {

std::uint32_t Fences::add(ProcessId process, WindowId window) {
  std::vector<Window>& list = windows_[raw(process)];
  list.emplace_back();
  list.back().id = window;
  list.back().serial = ++serial_;
  many_.added(list, [&](const Window& w) {
    return std::pair(key(process, w.id), static_cast<std::uint32_t>(&w - list.data()));
  });
  // Segment 0, whatever the process's: on a window first seen after a gap the open epoch may have
  // begun in it.
  return static_cast<std::uint32_t>(list.size() - 1);
}

void Fences::mark(ProcessId origin, WindowId window, ProcessId target) {
  for (Window& w : windows_[raw(origin)]) {
    if (w.id != window) continue;
    const std::uint32_t i = w.targets.find(target);
    if (i != kNone && w.targets[i].marked < w.targets[i].ops) ++w.targets[i].marked;
  }
}

FenceEpoch Fences::fence(const Call& call, WindowId window, std::uint64_t ordinal,
                         std::uint32_t size) {
  Window& w = windows_[raw(call.process)][place(call.process, window)];
  closed_.clear();
  for (const Target& t : w.targets.items()) {
    FenceTarget& closed = closed_.emplace_back();
    closed.target = t.target;
    closed.transfers.ops = t.ops;
    closed.transfers.marked = t.marked;
    closed.transfers.last_exit = t.last_exit;
  }
  const bool gap = w.segment != segments_[raw(call.process)];
  w.targets.clear();
  w.segment = segments_[raw(call.process)];
  w.serial = ++serial_;
  return {&call, window, ordinal, size, gap, closed_};
}

void Fences::free(ProcessId process, WindowId window) {
  std::vector<Window>& list = windows_[raw(process)];
  if (ManyOpen::knows(list.size())) {  // those behind it get other places: the last one gets its
    const std::uint32_t place = many_.find(key(process, window));
    if (place == kNone) return;
    const auto of = [&](const Window& w) {
      return std::pair(key(process, w.id), static_cast<std::uint32_t>(&w - list.data()));
    };
    const WindowId last = list.back().id;
    if (last != window) list[place] = std::move(list.back());
    list.pop_back();
    many_.removed(list, key(process, window), of);
    if (last != window && ManyOpen::knows(list.size())) many_.moved(key(process, last), place);
    return;
  }
  std::erase_if(list, [&](const Window& w) { return w.id == window; });
}

}  // namespace kojak::earl

// Where the bytes of windows are in the memory of their processes, where several windows lie over
// one memory (epilog/format/window_memory.h): the same bytes have one place there, by whatever
// window they are written and read.
//
// Made once of the definitions of a trace; lookups take the logarithm of its windows, the first one
// of a part of memory the number of shared windows.
#pragma once

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "earl/aspects/transfers.h"
#include "earl/trace.h"
#include "epilog/format/window_memory.h"

namespace kojak::earl {

class WindowAddresses {
 public:
  struct Place {
    WindowId window;  // absent: `first` is an address
    ProcessId target;
    std::uint64_t first;
    // Where it may be, if `first` is not known.
    std::uint64_t begin = 0, end = ~std::uint64_t{0};
  };

  explicit WindowAddresses(const earl::Trace& trace) {
    const Definitions& definitions = trace.definitions();
    definitions.properties.for_each(
        [&](const std::string& key, ProcessId process, const std::string& value) {
          if (!key.starts_with(run_property::kWindowsMemory)) return;
          for (const WindowMemory& w : windows_in(value)) parts_[process].emplace(w.window, w);
        });
    for (const auto& [process, windows] : parts_) {
      for (const auto& [number, w] : windows) {
        const WindowDef* const def = definitions.windows.find(static_cast<WindowId>(number));
        if (def != nullptr && def->flavour == kFlavourShared) shared_.emplace_back(process, w);
      }
    }
  }

  Place place(WindowId window, ProcessId target, std::uint64_t first) const {
    const WindowMemory* const part = find(window, target);
    if (part == nullptr) return {window, target, first};
    const bool known = first != RmaPlace::kUnknown;
    return {absent<WindowId>(), target, known ? part->address + first : first, part->address,
            part->end()};
  }
  // What these bytes are known by, whatever window they are told of.
  using Bytes = std::array<std::uint64_t, 4>;
  Bytes bytes_at(WindowId window, ProcessId target, std::uint64_t first,
                 std::uint64_t bytes) const {
    const Place at = place(window, target, first);
    return {raw(at.window), raw(target), at.first, bytes};
  }
  // Over that of a shared window, so that others may have stored there, too.
  bool over_shared(WindowId window, ProcessId target) const {
    const WindowMemory* const part = shared_.empty() ? nullptr : find(window, target);
    if (part == nullptr) return false;
    const auto known = over_shared_.find({window, target});
    if (known != over_shared_.end()) return known->second;
    bool over = false;
    for (const auto& [process, shared] : shared_) {
      over = over || ((process == target || is_absent(process)) && part->meets(shared));
    }
    return over_shared_[{window, target}] = over;
  }

 private:
  const WindowMemory* find(WindowId window, ProcessId target) const {
    if (parts_.empty()) return nullptr;
    auto found = parts_.find(target);  // what holds of the whole run is absent
    if (found == parts_.end()) found = parts_.find(absent<ProcessId>());
    if (found == parts_.end()) return nullptr;
    const auto part = found->second.find(raw(window));
    return part == found->second.end() ? nullptr : &part->second;
  }

  std::map<ProcessId, std::map<std::uint32_t, WindowMemory>> parts_;  // by window
  std::vector<std::pair<ProcessId, WindowMemory>> shared_;
  mutable std::map<std::pair<WindowId, ProcessId>, bool> over_shared_;
};

}  // namespace kojak::earl

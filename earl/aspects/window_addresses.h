// Where the bytes of windows are in the memory of their processes, where several windows lie over
// one memory (epilog/format/window_memory.h): the same bytes have one place there, by whatever
// window they are written and read.
//
// Made once of the definitions of a trace; lookups take the logarithm of its windows.
#pragma once

#include <map>
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
          if (key != run_property::kWindowsMemory) return;
          for (const WindowMemory& w : windows_in(value)) parts_[process].push_back(w);
        });
    for (const auto& [process, windows] : parts_) {
      for (const WindowMemory& w : windows) {
        const WindowDef* const def = definitions.windows.find(static_cast<WindowId>(w.window));
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
  // Over that of a shared window, so that others may have stored there, too.
  bool over_shared(WindowId window, ProcessId target) const {
    const WindowMemory* const part = find(window, target);
    if (part == nullptr) return false;
    for (const auto& [process, shared] : shared_) {
      if ((process == target || is_absent(process)) && part->meets(shared)) return true;
    }
    return false;
  }

 private:
  const WindowMemory* find(WindowId window, ProcessId target) const {
    if (parts_.empty()) return nullptr;
    auto found = parts_.find(target);  // what holds of the whole run is absent
    if (found == parts_.end()) found = parts_.find(absent<ProcessId>());
    if (found == parts_.end()) return nullptr;
    for (const WindowMemory& w : found->second) {
      if (w.window == raw(window)) return &w;
    }
    return nullptr;
  }

  std::map<ProcessId, std::vector<WindowMemory>> parts_;
  std::vector<std::pair<ProcessId, WindowMemory>> shared_;
};

}  // namespace kojak::earl

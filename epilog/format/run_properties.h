// What is known of a run beside its events: RUN_PROPERTY, by key and process.
//
// A process that is absent stands for the whole run; what one process says goes before that. Owns
// its texts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "epilog/format/record/types.h"
#include "epilog/format/run_property_keys.h"

namespace kojak {

class RunProperties {
 public:
  // Inserts or replaces.
  void set(std::string_view key, ProcessId process, std::string_view value) {
    ByProcess& known = keys_[std::string(key)];
    count_ += known.insert_or_assign(process, std::string(value)).second;
  }
  // Adds what `speaker` tells. Where it speaks for the whole run and others did otherwise before,
  // it is taken to hold of itself: nothing is lost, and the lowest rank's word is that of the run.
  void add(const std::string& key, ProcessId process, const std::string& value, ProcessId speaker) {
    const std::string* known = is_absent(process) ? find(key) : nullptr;
    if (known != nullptr && *known == value) return;
    set(key, known != nullptr ? speaker : process, value);
  }
  // What holds of the process, or of the run; null if nobody said.
  const std::string* find(std::string_view key, ProcessId process = absent<ProcessId>()) const {
    const auto entry = keys_.find(key);
    if (entry == keys_.end()) return nullptr;
    auto said = entry->second.find(process);
    if (said == entry->second.end()) said = entry->second.find(absent<ProcessId>());
    return said == entry->second.end() ? nullptr : &said->second;
  }
  // What each of `processes` processes says for itself, and all alike, holds of the run.
  void combine(std::size_t processes) {
    for (auto& [key, said] : keys_) {
      if (said.size() != processes || said.count(absent<ProcessId>()) != 0) continue;
      const std::string first = said.begin()->second;
      bool alike = true;
      for (const auto& entry : said) alike = alike && entry.second == first;
      if (!alike) continue;
      count_ -= said.size() - 1;
      said.clear();
      said[absent<ProcessId>()] = first;
    }
  }

  std::size_t size() const { return count_; }
  // f(key, process, value), by key, then by process, the whole run last.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [key, said] : keys_) {
      for (const auto& [process, value] : said) f(key, process, value);
    }
  }

 private:
  using ByProcess = std::map<ProcessId, std::string>;
  std::map<std::string, ByProcess, std::less<>> keys_;
  std::size_t count_ = 0;
};

}  // namespace kojak

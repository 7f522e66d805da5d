// Processes that serve the others: which of a trace's locations do, and from when on.
//
// The merge finds them (merge/complete/services.h) and writes it as properties of the run, for each
// such thread one; the time is that of the merged trace. Pure functions; nothing fails: what is no
// time says nothing.
#pragma once

#include <charconv>
#include <optional>
#include <string>

#include "epilog/format/definitions.h"

namespace kojak {

namespace run_property {
// Of a process: from this time on its main thread serves the others, in seconds. Of another thread
// its number is behind it: "service.since.1".
inline constexpr const char* kServiceSince = "service.since";
}  // namespace run_property

inline std::string service_key(ThreadId thread) {
  std::string key = run_property::kServiceSince;
  return raw(thread) == 0 ? key : key + '.' + std::to_string(raw(thread));
}
inline bool is_service_key(const std::string& key) {
  return key.starts_with(run_property::kServiceSince);
}

// From when on it serves; nothing: it does not.
inline std::optional<Seconds> service_since(const Definitions& definitions,
                                            const LocationDef& location) {
  const std::string* const text =
      definitions.properties.find(service_key(location.thread), location.process);
  if (text == nullptr) return std::nullopt;
  double time = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, time);
  if (error != std::errc() || rest != end || !(time >= 0)) return std::nullopt;
  return Seconds{time};
}

inline bool any_service(const Definitions& definitions) {
  bool any = false;
  definitions.properties.for_each([&](const std::string& key, ProcessId, const std::string&) {
    any = any || is_service_key(key);
  });
  return any;
}

}  // namespace kojak

// Processes that serve the others: which of a trace's locations do, and from when on.
//
// The merge finds them (merge/complete/services.h) and writes it as properties of the run, for each
// such process one; the time is that of the merged trace. Pure functions; nothing fails: what is no
// time says nothing.
#pragma once

#include <charconv>
#include <optional>
#include <string>

#include "epilog/format/definitions.h"

namespace kojak {

namespace run_property {
// Of a process: from this time on its main thread serves the others, in seconds.
inline constexpr const char* kServiceSince = "service.since";
}  // namespace run_property

// From when on it serves; nothing: it does not.
inline std::optional<Seconds> service_since(const Definitions& definitions,
                                            const LocationDef& location) {
  if (raw(location.thread) != 0) return std::nullopt;
  const std::string* const text =
      definitions.properties.find(run_property::kServiceSince, location.process);
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
    any = any || key == run_property::kServiceSince;
  });
  return any;
}

}  // namespace kojak

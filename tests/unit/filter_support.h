// Cuts of traces in memory, for the tests of elg_filter.
//
// For tests only: what cannot be read or written is an exception. No state.
#pragma once

#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "earl/filter/copy.h"
#include "earl/replay.h"
#include "epilog/format/check/verify.h"
#include "epilog/format/text/text_reader.h"
#include "tests/support/temp_dir.h"

namespace kojak::test {

using Bytes = std::vector<std::byte>;

inline earl::Trace open_trace(const Bytes& bytes) {
  auto trace = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "trace");
  if (!trace) throw std::runtime_error(trace.error().message());
  return std::move(*trace);
}

inline Bytes trace_of(const std::string& text) {
  auto bytes = text_to_trace(text);
  if (!bytes) throw std::runtime_error(bytes.error().message());
  return *bytes;
}

inline filter::Cut window(double from, double to) {
  return {from, to, {}, {}};
}
inline filter::Cut only_ranks(std::set<std::uint32_t> ranks) {
  return {-HUGE_VAL, HUGE_VAL, std::move(ranks), {}};
}
inline filter::Cut only_regions(std::set<std::string> regions) {
  return {-HUGE_VAL, HUGE_VAL, {}, std::move(regions)};
}

inline Bytes cut(const Bytes& bytes, const filter::Cut& wanted) {
  earl::Trace trace = open_trace(bytes);
  auto selection = filter::Selection::make(wanted, trace);
  if (!selection) throw std::runtime_error(selection.error().message());
  const filter::Severed severed = filter::find_severed(trace, *selection, {});
  const filter::Inherited nothing;
  const auto copy = [&](TraceWriter* writer) {
    auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "trace");
    const std::function<void(std::uint64_t)> none;
    return filter::copy_selected(
        {*reader, trace.definitions(), *selection, severed, nothing, 0, none}, writer);
  };
  TempDir folder;
  Dialect dialect =
      TraceReader::from(memory_source(bytes.data(), bytes.size()), "trace")->dialect();
  dialect.metrics = static_cast<std::uint32_t>(trace.definitions().metrics.size());
  auto writer = TraceWriter::create(folder.file("part.elg"), dialect);
  const filter::Copied copied = copy(&*writer);
  if (copy(nullptr).events != copied.events)
    throw std::runtime_error("two passes count differently");
  if (!filter::replace_event_count(*writer, copied) || !writer->commit()) {
    throw std::runtime_error("the cut cannot be written");
  }
  return read_bytes(folder.file("part.elg"));
}

// Everything that the verifier finds, notes apart.
inline std::vector<std::string> faults(const Bytes& bytes) {
  std::vector<std::string> result;
  auto reader = TraceReader::from(memory_source(bytes.data(), bytes.size()), "trace");
  const auto verified = verify_trace(*reader);
  if (!verified) return {verified.error().message()};
  for (const Finding& finding : verified->findings) {
    if (finding.level != Level::kNote) result.push_back(finding.message());
  }
  return result;
}

// What the analysis finds suspect: by kind.
inline std::vector<std::string> suspicions(const Bytes& bytes) {
  earl::Trace trace = open_trace(bytes);
  earl::Sink sink;
  earl::Replay replay(trace, sink);
  replay.run();
  std::vector<std::string> result;
  trace.findings().for_each([&](earl::Finding finding, const earl::Findings::Row&) {
    if (earl::info(finding).suspect) result.emplace_back(earl::info(finding).name);
  });
  return result;
}

}  // namespace kojak::test

// Local traces from text, merged in a directory of their own: what tests of the merge start from.
//
// For tests only: what cannot be written or read is an exception. Owns its directory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "epilog/format/compact/pack.h"
#include "epilog/format/definitions.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/text/text_reader.h"
#include "merge/merge.h"
#include "tests/support/merge_checks.h"
#include "tests/support/temp_dir.h"

namespace kojak::test {

class LocalRun {
 public:
  explicit LocalRun(std::uint32_t size, std::uint64_t run = 1) : size_(size), run_(run) {}

  // A local trace from its text, to which LOCAL_RUN is added. Returns its path.
  std::string add(std::uint32_t rank, const std::string& text, std::uint32_t thread = 0) {
    const std::string whole =
        "LOCAL_RUN run_hi=" + std::to_string(run_) + " run_lo=7 size=" + std::to_string(size_) +
        " pid=" + std::to_string(rank) + " tid=" + std::to_string(thread) + "\n" + text;
    auto bytes = text_to_trace(whole, "trace of rank " + std::to_string(rank));
    if (!bytes) throw std::runtime_error(bytes.error().message());
    return add_bytes(std::to_string(rank) + "." + std::to_string(thread) + ".elg", *bytes);
  }
  std::string add_bytes(const std::string& name, std::vector<std::byte> bytes) {
    paths.push_back(dir.file(name));
    write_file(paths.back(), bytes);
    locals.push_back(std::move(bytes));
    return paths.back();
  }

  merge::MergeOptions options() const {
    merge::MergeOptions o;
    o.inputs = paths;
    o.output = dir.file("a.elg");
    return o;
  }
  // Merges all; throws if that fails, or if the same traces with compact records give another
  // result.
  merge::Summary merge(const merge::MergeOptions& o) {
    auto summary = merge::merge_traces(o);
    if (!summary) throw std::runtime_error(summary.error().message());
    merged = read_bytes(o.output);
    if (o.inputs == paths && o.output == dir.file("a.elg")) merge_compact(o);
    return *summary;
  }
  merge::Summary merge() { return merge(options()); }

  // Of the merged trace; throws if one is bad.
  Definitions definitions() const {
    auto reader = TraceReader::from(memory_source(merged.data(), merged.size()), "merged");
    if (!reader) throw std::runtime_error(reader.error().message());
    Definitions found;
    RawRecord record;
    while (reader->next(record) == TraceReader::Next::kRecord) {
      if (!is_definition(record.type)) continue;
      if (Status status = found.add(record, reader->dialect()); !status) {
        throw std::runtime_error(status.error().message());
      }
    }
    found.finish();
    return found;
  }

  TempDir dir;
  std::vector<std::string> paths;
  std::vector<std::vector<std::byte>> locals;
  std::vector<std::byte> merged;

 private:
  void merge_compact(merge::MergeOptions o) const {
    const TempDir packed;
    o.inputs.clear();
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::vector<std::byte> local = read_bytes(paths[i]);  // a test may have changed it
      if (!is_whole(local)) return;
      o.inputs.push_back(packed.file(paths[i].substr(paths[i].rfind('/') + 1)));
      write_file(o.inputs.back(), compact::pack(local, compact::Blocks::kPlain));
    }
    o.output = packed.file("a.elg");
    o.threads = 3;
    o.least_for_threads = 0;
    const auto summary = merge::merge_traces(o);
    if (!summary) throw std::runtime_error("compact: " + summary.error().message());
    if (read_bytes(o.output) != merged) {
      throw std::runtime_error("the merge of compact traces is another one");
    }
  }
  // Of version 2, and its records are whole.
  static bool is_whole(const std::vector<std::byte>& trace) {
    if (trace.size() < kHeaderSize || trace[7] != std::byte{2}) return false;
    std::size_t at = kHeaderSize;
    while (at + 2 <= trace.size()) at += 2 + std::to_integer<std::size_t>(trace[at]);
    return at == trace.size();
  }

  std::uint32_t size_;
  std::uint64_t run_;
};

}  // namespace kojak::test

#include "tests/fuzz/checks.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "earl/trace.h"
#include "epilog/format/text/print.h"
#include "epilog/format/text/text_reader.h"
#include "expert/analysis/analysis.h"
#include "tools/region_profile.h"

namespace kojak::fuzz {
namespace {

namespace fs = std::filesystem;

struct Directory {
  Directory() {
    const fs::path memory = "/dev/shm";
    const fs::path base = fs::is_directory(memory) ? memory : fs::temp_directory_path();
    path = base / ("kojak-fuzz-" + std::to_string(::getpid()));
    fs::create_directories(path);
  }
  ~Directory() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

Result<TraceReader> reader_of(const Bytes& bytes) {
  return TraceReader::from(memory_source(bytes.data(), bytes.size()), "input", 4096);
}

}  // namespace

const fs::path& directory() {
  static const Directory made;
  return made.path;
}

Bytes read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "expectation broken: %s\n", what.c_str());
  std::abort();
}

std::optional<Verification> check_readers(const Bytes& trace) {
  auto reader = reader_of(trace);
  if (!reader) {
    expect(!reader.error().reason.empty(), "an error without a reason");
    return std::nullopt;
  }
  const auto verification = verify_trace(*reader);
  std::string text;
  std::uint64_t records = 0;
  auto printing = reader_of(trace);
  RawRecord record;
  while (printing->next(record) == TraceReader::Next::kRecord) {
    text.clear();
    print_record(record, printing->dialect(), text);
    expect(!text.empty() && text.find('\n') == std::string::npos, "one line for a record: " + text);
    ++records;
  }
  auto profiling = reader_of(trace);
  const auto profile = profile_trace(*profiling);
  expect(profile.ok() == verification.ok(), "verifier and profile disagree whether it is a trace");
  if (!verification) return std::nullopt;
  expect(verification->records == records, "verifier and printer count different records");
  expect(profile->events == verification->events, "verifier and profile count different events");
  return *verification;
}

void check_text(const Bytes& trace) {
  const auto text = trace_to_text(trace);
  if (!text) return;
  const auto again = text_to_trace(*text);
  if (!again) return;  // damaged records have a text that is no record
  const auto twice = trace_to_text(*again);
  expect(twice.ok(), "a trace made from text cannot be printed");
}

void check_analysis(const Bytes& bytes) {
  auto trace = earl::Trace::from(memory_source(bytes.data(), bytes.size()), "input");
  if (!trace.ok()) return;
  const expert::Report report = expert::analyse(*trace);
  std::vector<double> row(report.threads());
  for (std::size_t m = 0; m < report.metrics().size(); ++m) {
    for (std::size_t c = 0; c < report.call_paths().size(); ++c) {
      if (!report.row(m, c, row)) continue;
      for (const double value : row) {
        expect(std::isfinite(value) && value >= 0,
               std::string(report.metrics()[m].metric.name) + " is " + std::to_string(value));
      }
    }
  }
}

}  // namespace kojak::fuzz

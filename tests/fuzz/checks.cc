#include "tests/fuzz/checks.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "epilog/format/io/compression.h"
#include "epilog/format/text/print.h"
#include "epilog/format/text/text_reader.h"
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

void write(const fs::path& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  expect(out.flush().good(), "an input cannot be written");
}

Bytes read_source(const fs::path& path, std::size_t most, std::size_t piece) {
  const auto source = open_source(path.string());
  expect(source.ok(), "a file cannot be opened");
  Bytes bytes;
  Bytes part(piece);
  while (bytes.size() < most) {
    const std::ptrdiff_t got = (*source)->read(part.data(), part.size());
    expect(got >= 0 || !(*source)->error().empty(), "an error without a reason");
    if (got <= 0) break;
    bytes.insert(bytes.end(), part.begin(), part.begin() + got);
  }
  bytes.resize(std::min(bytes.size(), most));
  return bytes;
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

std::optional<Bytes> check_compressed(const Bytes& bytes) {
  if (compression_of(bytes) == Compression::kNone) return std::nullopt;
  const fs::path path = directory() / "compressed";
  write(path, bytes);
  constexpr std::size_t kFew = 7;
  Bytes whole = read_source(path, kMostUnpacked, std::size_t{64} * 1024);
  const Bytes start = read_source(path, std::size_t{16} * 1024, kFew);
  expect(std::equal(start.begin(), start.end(), whole.begin()), "other bytes in small pieces");
  return whole;
}

void check_text(const Bytes& trace) {
  const auto text = trace_to_text(trace);
  if (!text) return;
  const auto again = text_to_trace(*text);
  if (!again) return;  // damaged records have a text that is no record
  const auto twice = trace_to_text(*again);
  expect(twice.ok(), "a trace made from text cannot be printed");
}

}  // namespace kojak::fuzz

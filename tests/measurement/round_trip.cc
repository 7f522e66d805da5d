// round_trip ELG_PRINT DIRECTORY...: traces of real programs, printed by elg_print and made into
// traces again by the reader that the tests use, are the same, byte for byte.
//
// Each directory holds the local traces of one run, in the byte order of this machine. They go
// there and back as they are, and so does what the merge makes of them: in both models, with lock
// grants and corrected clocks, and in the classic format where it can express the run. Ends with
// status 1 and the first line that differs.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <vector>

#include "epilog/format/compact/state.h"
#include "epilog/format/io/reader.h"
#include "epilog/format/text/text_reader.h"
#include "merge/merge.h"
#include "tests/support/temp_dir.h"

namespace {

using namespace kojak;
namespace fs = std::filesystem;

struct Printed {
  std::string text;
  int status = 0;
};
Printed print(const std::string& command, const std::string& path) {
  Printed printed;
  FILE* const pipe = ::popen(("'" + command + "' '" + path + "'").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("elg_print cannot be started");
  std::array<char, 65536> buffer;
  std::size_t n;
  while ((n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    printed.text.append(buffer.data(), n);
  }
  printed.status = ::pclose(pipe);
  return printed;
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream one(a), other(b);
  std::string x, y;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(one, x));
    const bool more_too = static_cast<bool>(std::getline(other, y));
    if (!more && !more_too) return "no line differs";
    if (x != y || more != more_too) {
      return "line " + std::to_string(line) + " is\n  " + (more ? x : "(the end)") +
             "\nand then\n  " + (more_too ? y : "(the end)");
    }
  }
}

class RoundTrip {
 public:
  explicit RoundTrip(std::string elg_print) : elg_print_(std::move(elg_print)) {}

  void directory(const fs::path& path) {
    std::vector<std::string> locals;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".elg") locals.push_back(entry.path().string());
    }
    std::sort(locals.begin(), locals.end());
    if (locals.empty()) fail(path.string(), "holds no local traces");
    for (const std::string& local : locals) trace(local, local);
    merge::MergeOptions options;
    options.inputs = {path.string()};
    options.output = temporary_.file("a.elg");
    merged(options, path.string() + " merged");
    options.lock_grants = true;
    options.clock = merge::ClockCorrection::kControlled;
    merged(options, path.string() + " merged with lock grants and corrected clocks");
    options.lock_grants = false;
    options.model = merge::Model::kBasic;
    merged(options, path.string() + " merged in the basic model");
    options.format = merge::Format::kClassic;
    if (merge::merge_traces(options)) {
      ++classic_;
      trace(options.output, path.string() + " in the classic format");
    }
  }

  // Something was compared at all.
  int finish() {
    std::cout << traces_ << " traces, " << classic_ << " of them classic, " << wrong_
              << " differ\n";
    return wrong_ == 0 && classic_ > 0 && traces_ > 0 ? 0 : 1;
  }

 private:
  void fail(const std::string& what, const std::string& why) {
    ++wrong_;
    std::cerr << what << ": " << why << "\n";
  }
  void merged(const merge::MergeOptions& options, const std::string& name) {
    const auto summary = merge::merge_traces(options);
    if (!summary) return fail(name, summary.error().message());
    trace(options.output, name);
  }
  void trace(const std::string& path, const std::string& name) {
    ++traces_;
    const std::vector<std::byte> bytes = test::read_bytes(path);
    const Printed printed = print(elg_print_, path);
    if (printed.status != 0)
      return fail(name, "elg_print ends with " + std::to_string(printed.status));
    const auto again = text_to_trace(printed.text, name);
    if (!again) return fail(name, again.error().message());
    const std::string copy = temporary_.file("again.elg");
    test::write_file(copy, *again);
    if (*again == bytes || (in_ticks(bytes) && records(copy) == records(path))) return;
    fail(name, first_difference(printed.text, print(elg_print_, copy).text));
  }

  // A local trace has its times in ticks, and a text has seconds: what both are read as is
  // compared.
  static bool in_ticks(const std::vector<std::byte>& bytes) {
    return bytes.size() > kHeaderSize + 1 && bytes[7] == std::byte{compact::kMajor} &&
           bytes[kHeaderSize] == std::byte{compact::kBlock} &&
           bytes[kHeaderSize + 1] == static_cast<std::byte>(compact::Times::kTicks);
  }
  static std::vector<std::byte> records(const std::string& path) {
    auto reader = TraceReader::open(path);
    if (!reader) throw std::runtime_error(reader.error().message());
    std::vector<std::byte> all;
    RawRecord record;
    TraceReader::Next next;
    while ((next = reader->next(record)) == TraceReader::Next::kRecord) {
      all.push_back(static_cast<std::byte>(record.type));
      all.push_back(static_cast<std::byte>(record.length));
      all.insert(all.end(), record.body, record.body + record.length);
    }
    if (next == TraceReader::Next::kDamaged) throw std::runtime_error(reader->error().message());
    return all;
  }

  std::string elg_print_;
  test::TempDir temporary_;
  int traces_ = 0, classic_ = 0, wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: round_trip ELG_PRINT DIRECTORY...\n";
    return 1;
  }
  try {
    RoundTrip round_trip(argv[1]);
    for (int i = 2; i < argc; ++i) round_trip.directory(argv[i]);
    return round_trip.finish();
  } catch (const std::exception& error) {
    std::cerr << "round_trip: " << error.what() << "\n";
    return 1;
  }
}

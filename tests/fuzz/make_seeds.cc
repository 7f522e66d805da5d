// Writes what the fuzzers start from: random programs, the cases' traces, the reference files, in
// both byte orders.
//
// make_fuzz_seeds TESTS DIRECTORY: TESTS is the source folder tests/; the seeds come into
// DIRECTORY/trace, merge, filter and cube.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <sstream>

#include "epilog/format/compact/pack.h"
#include "epilog/format/text/text_reader.h"
#include "merge/merge.h"
#include "tests/support/as_measured.h"
#include "tests/support/clock_program.h"
#include "tests/support/lock_program.h"
#include "tests/support/merge_program.h"
#include "tests/support/openmp_program.h"
#include "tests/support/temp_dir.h"

namespace {

namespace fs = std::filesystem;
using namespace kojak;
using Bytes = std::vector<std::byte>;

void write(const fs::path& path, const Bytes& bytes) {
  test::write_file(path.string(), bytes);
}

void write_compressed(const fs::path& path, const Bytes& bytes, Compression how) {
  const auto compressor = make_compressor(how);
  auto file = OutputFile::create(path.string());
  if (file && compressor->write(*file, bytes.data(), bytes.size()).ok() &&
      compressor->finish(*file).ok()) {
    (void)file->commit();
  }
}
// With gzip and zstd, and as two members or frames one behind the other.
void write_compressed(const fs::path& path, const Bytes& trace) {
  for (const auto& [how, name] :
       {std::pair(Compression::kGzip, ".gz"), std::pair(Compression::kZstd, ".zst")}) {
    const fs::path one = path.string() + name, two = path.string() + "_two" + name;
    write_compressed(one, trace, how);
    const auto half = trace.begin() + static_cast<std::ptrdiff_t>(trace.size() / 2);
    write_compressed(two, {trace.begin(), half}, how);
    Bytes both = test::read_bytes(two.string());
    write_compressed(two, {half, trace.end()}, how);
    const Bytes second = test::read_bytes(two.string());
    both.insert(both.end(), second.begin(), second.end());
    write(two, both);
  }
}

// With the choice of a cut in front.
void write_cut(const fs::path& path, const Bytes& trace) {
  const auto kind = static_cast<unsigned>(path.string().size() % 3);
  Bytes bytes(8);
  bytes[0] = std::byte{static_cast<unsigned char>(kind == 0 ? 30 : 255)};
  bytes[1] = std::byte{static_cast<unsigned char>(kind == 0 ? 60 : 255)};
  bytes[2] = std::byte{static_cast<unsigned char>(kind == 1 ? 1 : 0)};
  bytes[3] = std::byte{static_cast<unsigned char>(kind == 2 ? 2 : 0)};
  bytes.insert(bytes.end(), trace.begin(), trace.end());
  write(path, bytes);
}

// The same trace in the other byte order.
Bytes swapped(const Bytes& trace) {
  auto text = trace_to_text(trace);
  if (!text) return trace;
  const std::size_t end = text->find('\n');
  const bool little = text->substr(0, end).ends_with(" little");
  text->replace(end - (little ? 6 : 3), little ? 6 : 3, little ? "big" : "little");
  auto other = text_to_trace(*text);
  return other ? *other : trace;
}

// Local traces behind the two bytes that choose what the merge does (fuzz_merge.cc), and what it
// makes of them as a seed of the readers. Every choice has its turn.
class MergeSeeds {
 public:
  explicit MergeSeeds(const fs::path& to) : to_(to) {}

  void add(const std::string& name, const std::vector<Bytes>& traces, unsigned clock = 4) {
    constexpr std::size_t kMost = 20000;
    const unsigned n = number_++;
    // Bits 1 and 2 are the clocks: linear, none, and controlled twice.
    unsigned first = (n & 1) | (clock < 4 ? clock : n / 2 & 3) << 1;
    first |= (n / 3 & 1) << 3 | (n / 5 & 1) << 4 | (n / 2 & 1) << 5 | (n % 5 == 4 ? 64 : 0);
    unsigned second =
        (n % 7 == 3 ? 1 : 0) | (n % 6 == 2 ? 2 : 0) | (n % 3 == 1 ? 4 : 0) | (n % 5 == 2 ? 8 : 0);
    second |= (n / 7 & 1) << 4 | (n % 11 == 5 ? 32 : 0) | (n / 3 & 1) << 6 | (n / 2 & 1) << 7;
    Bytes all{std::byte(first), std::byte(second)};
    merge::MergeOptions options;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const bool other = n % 4 == 3 || (n % 4 == 2 && i == 0);
      // Some as the measurement writes them.
      const Bytes trace = other        ? swapped(traces[i])
                          : n % 4 == 1 ? support::as_measured(traces[i])
                                       : traces[i];
      all.insert(all.end(), trace.begin(), trace.end());
      options.inputs.push_back(temporary_.file(std::to_string(i) + ".elg"));
      write(options.inputs.back(), trace);
    }
    if (all.size() > kMost) return;
    write(to_ / "merge" / name, all);
    if (n % 2 == 0) return;
    options.output = (to_ / "trace" / ("merged_" + name)).string();
    options.lock_grants = n % 4 == 1;
    options.format = n % 8 == 7   ? merge::Format::kClassic
                     : n % 8 == 3 ? merge::Format::kCompact
                                  : merge::Format::kNative;
    (void)merge::merge_traces(options);  // not all can be expressed in the classic format
  }
  void add_texts(const std::string& name, const std::vector<std::string>& texts,
                 unsigned clock = 4) {
    std::vector<Bytes> traces;
    for (const std::string& text : texts) {
      if (auto trace = text_to_trace(text)) traces.push_back(std::move(*trace));
    }
    if (!traces.empty()) add(name, traces, clock);
  }

 private:
  fs::path to_;
  test::TempDir temporary_;
  unsigned number_ = 0;
};

std::string local_run(std::size_t size, const std::string& rank, const std::string& thread) {
  return "LOCAL_RUN run_hi=1 run_lo=7 size=" + std::to_string(size) + " pid=" + rank +
         " tid=" + thread + "\n";
}
// Of a simulated program: one text for each rank.
std::vector<std::string> local_traces(std::vector<std::string> texts) {
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    texts[rank].insert(0, local_run(texts.size(), std::to_string(rank), "0"));
  }
  return texts;
}

// Of a tests/cases/merge/*.case.
std::vector<std::string> local_traces(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> traces;  // rank and thread, text
  std::istringstream in(text);
  std::string line;
  bool inside = false;
  unsigned size = 0;
  while (std::getline(in, line)) {
    if (line.starts_with("--- ")) {
      inside = line.starts_with("--- trace ");
      if (line.starts_with("--- run size=")) size = unsigned(std::stoul(line.substr(13)));
      if (inside) traces.emplace_back(line.substr(10), "");
    } else if (inside && !line.empty() && line[0] != '#') {
      traces.back().second += line + "\n";
    }
  }
  std::vector<std::string> texts;
  for (const auto& [whose, body] : traces) size = std::max(size, unsigned(std::stoul(whose)) + 1);
  for (const auto& [whose, body] : traces) {
    const std::size_t space = whose.find(' ');
    const std::string thread = space == std::string::npos ? "0" : whose.substr(space + 1);
    texts.push_back(local_run(size, whose.substr(0, space), thread) + body);
  }
  return texts;
}

// Of a tests/cases/*.case.
std::string case_text(const fs::path& path) {
  const std::string text = test::read_text(path.string());
  return text.substr(0, text.find("--- severities"));
}

void run(const fs::path& tests, const fs::path& to) {
  constexpr std::size_t kMostCompressed = 1000;
  for (const char* folder : {"trace", "merge", "filter", "cube"})
    fs::create_directories(to / folder);
  MergeSeeds merges(to);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const support::RandomProgram program = support::random_program(seed);
    std::vector<Bytes> traces;
    for (const auto& trace : program.traces) traces.push_back(trace.bytes);
    merges.add("program" + std::to_string(seed), traces);
    if (seed <= 10) {
      write(to / "trace" / ("local" + std::to_string(seed)), program.traces[0].bytes);
      write(to / "trace" / ("measured" + std::to_string(seed)),
            support::as_measured(program.traces[0].bytes));
      write_compressed(to / "trace" / ("measured" + std::to_string(seed)),
                       support::as_measured(program.traces[0].bytes));
    }
  }
  for (const char* which : {"_a", "_b", "_c", "_d", "_e", "_f", "_g"}) {
    merges.add_texts(std::string("openmp") + which, support::openmp_threads());
    merges.add_texts(std::string("counters") + which,
                     {local_run(1, "0", "0") + case_text(tests / "cases" / "counters.case"),
                      local_run(2, "1", "0") + case_text(tests / "cases" / "single_process.case")});
  }
  for (const std::string& text : support::openmp_threads()) {
    if (const auto trace = text_to_trace(text)) {
      const Bytes measured = support::as_measured(*trace);
      write(to / "trace" / ("openmp" + std::to_string(measured.size())), measured);
    }
  }
  for (unsigned seed = 1; seed <= 30; ++seed) {
    constexpr unsigned kControlled = 2;
    const std::string number = std::to_string(seed);
    merges.add_texts("clocks" + number, local_traces(support::clock_program(seed).traces),
                     kControlled);
    merges.add_texts("locks" + number,
                     local_traces(support::lock_program(seed, seed % 3 * 1e-3).traces));
  }
  for (const auto& entry : fs::directory_iterator(tests / "cases" / "merge")) {
    if (entry.path().extension() != ".case") continue;
    const std::string name = entry.path().stem();
    const auto texts = local_traces(test::read_text(entry.path().string()));
    for (const char* which : {"_a", "_b", "_c", "_d"}) merges.add_texts(name + which, texts);
  }
  for (const auto& entry : fs::directory_iterator(tests / "cases")) {
    if (entry.path().extension() != ".case") continue;
    if (const auto trace = text_to_trace(case_text(entry.path()))) {
      write(to / "trace" / entry.path().stem(), *trace);
      // What a fuzzer changes in a block with a checksum ends there.
      write(to / "trace" / (entry.path().stem().string() + "_compact"),
            compact::pack(*trace, compact::Blocks::kPlain));
      write(to / "trace" / (entry.path().stem().string() + "_checked"), compact::pack(*trace));
      write(to / "trace" / (entry.path().stem().string() + "_swapped"), swapped(*trace));
      write_cut(to / "filter" / entry.path().stem(), *trace);
      write_cut(to / "filter" / (entry.path().stem().string() + "_checked"), compact::pack(*trace));
      if (trace->size() < kMostCompressed) {
        write_compressed(to / "trace" / entry.path().stem(), compact::pack(*trace));
      }
    }
  }
  for (const auto& entry : fs::directory_iterator(tests / "reference")) {
    const std::string kind = entry.path().extension();
    if (kind == ".elg") {
      const Bytes trace = test::read_bytes(entry.path().string());
      write(to / "trace" / entry.path().filename(), trace);
      write(to / "trace" / (entry.path().filename().string() + "_swapped"), swapped(trace));
      write_cut(to / "filter" / entry.path().filename(), trace);
    }
    if (kind == ".cube")
      fs::copy_file(entry, to / "cube" / entry.path().filename(),
                    fs::copy_options::overwrite_existing);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_fuzz_seeds: %s\n", error.what());
    return 1;
  }
  return 0;
}

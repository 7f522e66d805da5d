// Writes what the fuzzers start from: random programs, the cases' traces, the reference files.
//
// make_fuzz_seeds TESTS DIRECTORY: TESTS is the source folder tests/; the seeds come into
// DIRECTORY/trace, merge, filter and cube.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "epilog/format/text_reader.h"
#include "tests/support/merge_program.h"
#include "tests/support/temp_dir.h"

namespace {

namespace fs = std::filesystem;
using namespace kojak;

void write(const fs::path& path, const std::vector<std::byte>& bytes) {
  test::write_file(path.string(), bytes);
}

// With the choice of a cut in front.
void write_cut(const fs::path& path, const std::vector<std::byte>& trace) {
  const auto kind = static_cast<unsigned>(path.string().size() % 3);
  std::vector<std::byte> bytes(8);
  bytes[0] = std::byte{static_cast<unsigned char>(kind == 0 ? 30 : 255)};
  bytes[1] = std::byte{static_cast<unsigned char>(kind == 0 ? 60 : 255)};
  bytes[2] = std::byte{static_cast<unsigned char>(kind == 1 ? 1 : 0)};
  bytes[3] = std::byte{static_cast<unsigned char>(kind == 2 ? 2 : 0)};
  bytes.insert(bytes.end(), trace.begin(), trace.end());
  write(path, bytes);
}

void run(const fs::path& tests, const fs::path& to) {
  for (const char* folder : {"trace", "merge", "filter", "cube"})
    fs::create_directories(to / folder);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const support::RandomProgram program = support::random_program(seed);
    std::vector<std::byte> all{std::byte(seed % 16)};  // the options of the merge
    for (const auto& trace : program.traces) {
      all.insert(all.end(), trace.bytes.begin(), trace.bytes.end());
    }
    if (all.size() < 20000) write(to / "merge" / ("program" + std::to_string(seed)), all);
    if (seed <= 10) {
      write(to / "trace" / ("local" + std::to_string(seed)), program.traces[0].bytes);
    }
  }
  for (const auto& entry : fs::directory_iterator(tests / "cases")) {
    if (entry.path().extension() != ".case") continue;
    const std::string text = test::read_text(entry.path().string());
    if (const auto trace = text_to_trace(text.substr(0, text.find("--- severities")))) {
      write(to / "trace" / entry.path().stem(), *trace);
      write_cut(to / "filter" / entry.path().stem(), *trace);
    }
  }
  for (const auto& entry : fs::directory_iterator(tests / "reference")) {
    const std::string kind = entry.path().extension();
    if (kind == ".elg") {
      const std::vector<std::byte> trace = test::read_bytes(entry.path().string());
      write(to / "trace" / entry.path().filename(), trace);
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

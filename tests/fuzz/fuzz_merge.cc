// Several local traces from one input through the whole merge, and its result through all readers.
//
// The first byte chooses model, clock correction, pool and number of open files; then each
// `EPILOG\0` begins a file. What comes before the first is dropped.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "merge/merge.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/mutator.h"

namespace {

using namespace kojak;
namespace fs = std::filesystem;
using fuzz::directory;

// What is wrong with an output of good input, and what may be wrong with one of bad input: names of
// nothing stay absent, and an exit stays without its enter.
bool may_stay(const Finding& finding) {
  return finding.what == "is absent" || finding.what == "leaves a region where none is open" ||
         finding.what == "leaves a region that is not the innermost one" ||
         finding.what == "a byte count stands in an ATTR_UI8 that is not there" ||
         finding.what == "the run has no such process" || finding.what == "is no finite number" ||
         finding.what == "is neither 0 nor 1";
}

// A run may be as large as its traces say, and each of its processes gets a place in the result,
// recorded or not. That is right for a large run, and a waste of time here.
bool too_large(const fuzz::Bytes& file) {
  auto reader = TraceReader::from(memory_source(file.data(), file.size()), "input");
  RawRecord record;
  while (reader && reader->next(record) == TraceReader::Next::kRecord) {
    LocalRun run;
    if (record.type == static_cast<std::uint8_t>(RecordType::kLocalRun) &&
        decode(record, reader->dialect(), run) == nullptr && raw(run.size) > 1000) {
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t choice = data[0];
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const std::vector<fuzz::Bytes> files = fuzz::split_files({bytes + 1, bytes + size});
  if (files.empty() || files.size() > 16) return 0;
  if (std::any_of(files.begin(), files.end(), too_large)) return 0;
  merge::MergeOptions options;
  bool good = true;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path path = directory() / (std::to_string(i) + ".elg");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(files[i].data()),
               static_cast<std::streamsize>(files[i].size()));
    options.inputs.push_back(path.string());
    const auto verified = fuzz::check_readers(files[i]);
    good = good && verified && verified->worst() != Level::kError;
  }
  options.model = (choice & 1) != 0 ? merge::Model::kBasic : merge::Model::kExtended;
  options.clock =
      (choice & 2) != 0 ? merge::ClockCorrection::kNone : merge::ClockCorrection::kLinear;
  options.pool = (choice & 4) != 0 ? 1 : 0;
  options.open_files = (choice & 8) != 0 ? 1 : 0;
  const fs::path output = directory() / "a.elg";
  options.output = output.string();
  std::error_code ignored;
  fs::remove(output, ignored);
  const auto summary = merge::merge_traces(options);
  if (!summary) {
    fuzz::expect(!summary.error().reason.empty(),
                 "an error without a reason: " + summary.error().message());
    fuzz::expect(!fs::exists(output), "a merge that failed has left its output");
    return 0;
  }
  const fuzz::Bytes merged = fuzz::read(output);
  const auto verified = fuzz::check_readers(merged);
  fuzz::expect(verified.has_value(), "the merge made what is no trace");
  for (const Finding& finding : verified->findings) {
    const bool kept = (!good || summary->suspect()) && may_stay(finding);
    fuzz::expect(kept || finding.level != Level::kError, finding.message());
  }
  fuzz::check_analysis(merged);
  return 0;
}

// Several local traces from one input through the whole merge, and its result through all readers.
//
// Two bytes choose model, clock correction, locks, format, pool, number of open files, compressed
// or compact inputs, a compressed output and a pipe for it (see Choice); then each `EPILOG\0`
// begins a file. What comes before the first is dropped.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>

#include "epilog/format/compact/pack.h"
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
         finding.what == "has a value without a meaning";
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

struct Choice {
  static constexpr std::size_t kBytes = 2;
  explicit Choice(const std::uint8_t* bytes) : first(bytes[0]), second(bytes[1]) {}

  // As elg_merge has it: lock grants in the extended model only.
  merge::MergeOptions options() const {
    merge::MergeOptions options;
    options.model = (first & 1) != 0 ? merge::Model::kBasic : merge::Model::kExtended;
    static constexpr merge::ClockCorrection kClocks[] = {
        merge::ClockCorrection::kLinear, merge::ClockCorrection::kNone,
        merge::ClockCorrection::kControlled, merge::ClockCorrection::kControlled};
    options.clock = kClocks[first >> 1 & 3];
    options.pool = (first & 8) != 0 ? 1 : 0;
    options.open_files = (first & 16) != 0 ? 1 : 0;
    options.lock_grants = (first & 32) != 0 && options.model == merge::Model::kExtended;
    options.format = (first & 64) != 0   ? merge::Format::kClassic
                     : (second & 8) != 0 ? merge::Format::kCompact
                                         : merge::Format::kNative;
    if ((second & 32) != 0) options.compression = zstd_if(16);
    options.threads = (second & 128) != 0 ? 1 : 2;
    options.least_for_threads = 0;
    return options;
  }
  // Of inputs; they cannot be read twice.
  Compression compression() const { return (second & 1) != 0 ? zstd_if(16) : Compression::kNone; }
  bool piped() const { return (second & 2) != 0; }   // an output that cannot be corrected
  bool packed() const { return (second & 4) != 0; }  // compact inputs, if they are of version 2
  // Those have checksums as merged traces have, or none, as the measurement writes them.
  compact::Blocks blocks() const {
    return (second & 64) != 0 ? compact::Blocks::kChecked : compact::Blocks::kPlain;
  }

  std::uint8_t first, second;

 private:
  Compression zstd_if(unsigned bit) const {
    return (second & bit) != 0 ? Compression::kZstd : Compression::kGzip;
  }
};

void write(const fs::path& path, const fuzz::Bytes& bytes, Compression how) {
  const auto compressor = make_compressor(how);
  if (!compressor) return fuzz::write(path, bytes);
  auto file = OutputFile::create(path.string());
  fuzz::expect(file.ok() && compressor->write(*file, bytes.data(), bytes.size()).ok() &&
                   compressor->finish(*file).ok() && file->commit().ok(),
               "an input cannot be written");
}

// A pipe with a name, and a thread that reads it until finish().
class Pipe {
 public:
  Pipe() {
    std::array<int, 2> ends{};
    fuzz::expect(::pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe");
    write_end_ = ends[1];
    reader_ = std::thread([this, read_end = ends[0]] {
      std::array<std::byte, 64 * 1024> buffer;
      ssize_t n;
      while ((n = ::read(read_end, buffer.data(), buffer.size())) > 0) {
        bytes_.insert(bytes_.end(), buffer.begin(), buffer.begin() + n);
      }
      ::close(read_end);
    });
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(write_end_); }
  fuzz::Bytes finish() {
    ::close(write_end_);
    reader_.join();
    return std::move(bytes_);
  }

 private:
  int write_end_ = -1;
  fuzz::Bytes bytes_;
  std::thread reader_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < Choice::kBytes) return 0;
  const Choice choice(data);
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<fuzz::Bytes> files = fuzz::split_files({bytes + Choice::kBytes, bytes + size});
  for (fuzz::Bytes& file : files) {
    const bool native = file.size() >= kHeaderSize && file[7] == std::byte{2};
    if (choice.packed() && native) file = compact::pack(file, choice.blocks());
  }
  if (files.empty() || files.size() > 16) return 0;
  if (std::any_of(files.begin(), files.end(), too_large)) return 0;
  merge::MergeOptions options = choice.options();
  bool good = true;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path path = directory() / (std::to_string(i) + ".elg");
    write(path, files[i], choice.compression());
    options.inputs.push_back(path.string());
    const auto verified = fuzz::check_readers(files[i]);
    good = good && verified && verified->worst() != Level::kError;
  }
  const fs::path output = directory() / "a.elg";
  std::error_code ignored;
  fs::remove(output, ignored);
  std::optional<Pipe> pipe;
  if (choice.piped()) pipe.emplace();
  options.output = pipe ? pipe->path() : output.string();
  const auto summary = merge::merge_traces(options);
  const fuzz::Bytes streamed = pipe ? pipe->finish() : fuzz::Bytes();
  if (!summary) {
    fuzz::expect(!summary.error().reason.empty(),
                 "an error without a reason: " + summary.error().message());
    fuzz::expect(!fs::exists(output), "a merge that failed has left its output");
    return 0;
  }
  if (pipe) fuzz::write(output, streamed);
  const fuzz::Bytes merged = fuzz::read_source(output, ~std::size_t{0});
  const auto verified = fuzz::check_readers(merged);
  fuzz::expect(verified.has_value(), "the merge made what is no trace");
  fuzz::expect(verified->events == summary->events, "the merge counts other events than it wrote");
  for (const Finding& finding : verified->findings) {
    const bool kept = (!good || summary->suspect()) && may_stay(finding);
    fuzz::expect(kept || finding.level != Level::kError, finding.message());
  }
  fuzz::check_analysis(merged);
  if (options.format == merge::Format::kCompact) fuzz::check_random_access(merged);
  return 0;
}

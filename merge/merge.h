// elg_merge as a library call: from local traces to one global trace.
//
// Owns everything it needs for the duration of the call; prints nothing. The output appears under
// its name only when it is complete; an interrupted merge leaves nothing. Errors: exit code 2 for
// input that cannot be merged (nothing is written), 4 where the output or a temporary file could
// not be written. Findings that leave a usable result are rows of the summary. Not thread-safe;
// its own threads (input/helpers.h) end with the call and change nothing of what it writes or says.
// Who wants to read the trace meanwhile takes a MergedStream (stream.h).
// Source: docs/merge.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "epilog/format/error.h"
#include "epilog/format/io/compression.h"
#include "merge/summary.h"

namespace kojak {
class BlockPipe;
}

namespace kojak::merge {

enum class Model : std::uint8_t { kBasic, kExtended };
enum class Format : std::uint8_t { kNative, kCompact, kClassic };
enum class ClockCorrection : std::uint8_t { kNone, kLinear, kControlled };

struct MergeOptions {
  std::vector<std::string> inputs;  // directories and files
  std::string output = "a.elg";     // "-" is standard output; empty: only the reader gets it
  std::vector<std::string> others;  // what else the caller writes: must replace no local trace
  Model model = Model::kExtended;
  Format format = Format::kNative;
  Compression compression = Compression::kNone;  // of the output
  bool lock_grants = false;  // lock records where locks are granted and released; extended only
  ClockCorrection clock = ClockCorrection::kLinear;
  std::size_t open_files = 0;   // at most so many inputs open at a time; 0: what the system allows
  std::size_t other_files = 0;  // so many of these the caller needs itself
  unsigned threads = std::thread::hardware_concurrency();  // in all; 1: none but the caller's
  std::uint64_t least_for_threads = 1u << 19;  // bytes of input; for less, one is enough
  // Memory for held ends in bytes; 0: by the number of processes; 1: none, all in the spill file.
  std::size_t pool = 0;
  BlockPipe* reader = nullptr;  // in another thread, that gets the merged trace, too (stream.h)
  // Called now and then with the work done and the work in all, in bytes.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

// What a word of the command line means; nothing if it means nothing.
std::optional<Model> model_of(std::string_view word);
std::optional<Format> format_of(std::string_view word);
std::optional<ClockCorrection> clock_of(std::string_view word);
// The extended one, unless ELG_VT_MODE=1 asks for the basic one.
Model usual_model();

Result<Summary> merge_traces(const MergeOptions& options);

}  // namespace kojak::merge

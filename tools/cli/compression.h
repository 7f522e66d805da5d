// The options --gzip and --zstd of commands that write traces.
#pragma once

#include <optional>

#include "epilog/format/io/compression.h"
#include "tools/cli/cli.h"

namespace kojak::cli {

inline void add_compression(po::options_description& options) {
  options.add_options()("zstd", "compress the file with zstd; all commands read it as it is")(
      "gzip", "the same with gzip: more slowly, for tools that know no zstd");
}

// Nothing if both are given.
inline std::optional<Compression> compression_of(const po::variables_map& values) {
  const bool zstd = values.count("zstd") != 0, gzip = values.count("gzip") != 0;
  if (zstd && gzip) return std::nullopt;
  return zstd ? Compression::kZstd : gzip ? Compression::kGzip : Compression::kNone;
}
inline constexpr const char* kTwoCompressions = "--zstd or --gzip, not both";

}  // namespace kojak::cli

// The options --gzip and --zstd of commands that write traces, or keep one.
#pragma once

#include <optional>

#include "epilog/format/io/compression.h"
#include "tools/cli/cli.h"

namespace kojak::cli {

inline void add_compression(po::options_description& options) {
  options.add_options()("zstd", "compress the file with zstd; all commands read it as it is")(
      "gzip", "the same with gzip: more slowly, for tools that know no zstd");
}
// Where the file is only kept.
inline void add_compression_of_kept(po::options_description& options) {
  options.add_options()("zstd", "compress the trace that is kept: a.elg.zst")(
      "gzip", "the same with gzip, more slowly: a.elg.gz");
}

// Nothing if both are given.
inline std::optional<Compression> compression_of(const po::variables_map& values) {
  const bool zstd = values.count("zstd") != 0, gzip = values.count("gzip") != 0;
  if (zstd && gzip) return std::nullopt;
  return zstd ? Compression::kZstd : gzip ? Compression::kGzip : Compression::kNone;
}
// What the name of such a file ends with.
inline const char* extension_of(Compression compression) {
  return compression == Compression::kZstd   ? ".elg.zst"
         : compression == Compression::kGzip ? ".elg.gz"
                                             : ".elg";
}
inline constexpr const char* kTwoCompressions = "--zstd or --gzip, not both";

}  // namespace kojak::cli

// What is kept in a folder, so that work that ended before it was done need not be done again.
//
// A file NAME.kept for each piece: a head (kept_files.cc), then the bytes. The head has hashes of
// the key, equal where the whole work is the same; of the request, equal where the piece is; of the
// bytes; and of itself. So a file is complete or not there: what was cut off or has changed is not
// taken. One of an empty request is the answer to all requests.
//
// Several processes may use a folder, of several machines too, if all of them see it and each name
// is one's own. Nothing is kept in memory. Not thread-safe. Errors name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/error.h"

namespace kojak {

class KeptFiles {
 public:
  KeptFiles() = default;  // keeps nothing
  KeptFiles(std::string folder, std::string_view key);
  explicit operator bool() const { return !folder_.empty(); }

  // Makes the folder, if it is missing. Fails where it cannot be made or read, and (exit code 1)
  // where files of another key lie there.
  Status open() const;
  // Whether a file lies there that says it is whole.
  bool has(const std::string& name) const;
  std::optional<std::vector<std::byte>> find(const std::string& name,
                                             std::span<const std::byte> request) const;
  // It is on disk then.
  Status keep(const std::string& name, std::span<const std::byte> request,
              std::span<const std::byte> bytes) const;
  // Removes what lies there of this key, and what began to be written.
  void clear() const;

 private:
  struct Hash {
    std::uint64_t hi = 0, lo = 0;
    bool operator==(const Hash&) const = default;
  };
  struct Head;
  class File;
  static Hash hash_of(std::span<const std::byte> bytes);
  std::string path_of(const std::string& name) const;
  std::string folder_;  // empty: none
  Hash key_;
};

}  // namespace kojak

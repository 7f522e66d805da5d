// All bytes of a trace, wherever they come from, as one span.
//
// A plain file is mapped; what is compressed or a pipe ("-") goes through a temporary file that has
// no name. The bytes live as long as the object. A file that somebody else cuts off while it is
// mapped ends the process (SIGBUS), as with every mapped file. open() fails for what cannot be
// read; compressed data that end too early give what there was, and damage(). Any thread may read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::earl {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  static MappedFile from(std::vector<std::byte> bytes);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::optional<Error>& damage() const { return damage_; }
  // Tells one version of the file from another: its size and time of change; 0, 0: no named file.
  std::uint64_t file_size() const { return file_size_; }
  std::uint64_t changed() const { return changed_; }

 private:
  MappedFile() = default;
  Status map(int fd, const std::string& path, std::size_t size);
  void close();

  std::vector<std::byte> owned_;
  std::span<const std::byte> bytes_;
  void* mapping_ = nullptr;
  std::optional<Error> damage_;
  std::uint64_t file_size_ = 0, changed_ = 0;
};

}  // namespace kojak::earl

// A file that appears under its name complete or not at all.
//
// The file is an unnamed (or, where the file system has none, hidden) temporary one beside the
// output; commit() gives it the name. Links that somebody has put there are not followed. "-"
// writes to standard output as it goes. Not thread-safe. Errors have exit code 4. One that is
// destroyed before commit() leaves nothing behind.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "epilog/format/error.h"

namespace kojak {

// A file that appears when it is complete. Also used for reports.
class OutputFile {
 public:
  // kHidden: with a temporary file that has a name, as on file systems without unnamed files.
  enum class Temporary : std::uint8_t { kUnnamed, kHidden };
  static Result<OutputFile> create(const std::string& path,
                                   Temporary temporary = Temporary::kUnnamed);
  // A whole file: there with all of it, or as it was.
  static Status write_whole(const std::string& path, std::span<const std::byte> bytes);
  static Status write_whole(const std::string& path, std::string_view text) {
    return write_whole(path, std::as_bytes(std::span(text)));
  }
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();
  Status write(const void* data, std::size_t size);
  // Replaces bytes that were written before; only if seekable().
  Status overwrite(std::uint64_t offset, const void* data, std::size_t size);
  bool seekable() const { return !stream_; }
  // What was written is on disk.
  Status sync();
  // Gives the file its name, replacing an older one. A stream: only reports errors.
  Status commit();
  const std::string& path() const { return path_; }

 private:
  OutputFile() = default;
  Error failure(const char* what, int code) const;
  std::string hidden_name() const;
  template <class Make>
  int with_hidden_name(Make make);
  void forget_temporary();
  std::string path_;
  std::string temporary_;  // empty: unnamed
  int fd_ = -1;
  bool stream_ = false;
};

}  // namespace kojak

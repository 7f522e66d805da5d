// The bytes of a report for the XML parser: plain or gzip, repaired where they are no valid text.
//
// Old tools wrote region names as the program had them, so a file that calls itself UTF-8 may hold
// any bytes; each that XML forbids becomes U+FFFD and is counted. A document type declaration is
// refused: no report has one, and entities are a way to make a parser use memory without bounds.
// Owns the open file. Fails by ok() turning false, with an error() for the user.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::cube {

class XmlInput {
 public:
  // "-": standard input.
  explicit XmlInput(std::string path);
  ~XmlInput();
  XmlInput(const XmlInput&) = delete;
  XmlInput& operator=(const XmlInput&) = delete;

  bool ok() const { return !failed_; }
  const Error& error() const { return error_; }
  // Fills up to `size` bytes; 0 at the end, -1 on error.
  int read(char* out, int size);
  std::uint64_t repaired() const { return repaired_; }
  // Whether all of it was read and the report's end was not in it.
  bool cut() const { return at_end_ && taken_ == ready_.size() && !complete_; }

 private:
  bool fill();
  void look_at_head();
  void look_for_marks();
  void repair(std::size_t size);
  void fail(std::string reason, std::string remedy);

  std::string path_;
  gzFile file_ = nullptr;
  std::vector<char> raw_;
  std::size_t carried_ = 0;  // bytes of an unfinished character at the start of raw_
  std::string ready_;
  std::size_t taken_ = 0;
  std::string tail_;  // the last bytes looked at for document type and end
  std::uint64_t offset_ = 0;
  std::uint64_t repaired_ = 0;
  bool at_start_ = true, at_end_ = false, utf8_ = true, failed_ = false;
  bool doctype_ = false, complete_ = false;
  Error error_;
};

}  // namespace kojak::cube

// Lines of text that come in any order and are written in the order of their times.
//
// What does not fit into memory (16 MiB) lies, sorted, in one temporary file without a name. When
// it is written, as much again is read of the file at a time. Lines of equal times stay in the
// order in which they came. Single-threaded. Errors: exit code 4, remembered until write().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/io/writer.h"

namespace kojak::exporting {

class SortedLines {
 public:
  explicit SortedLines(std::size_t memory = std::size_t{16} << 20) : memory_(memory) {}
  ~SortedLines();
  SortedLines(const SortedLines&) = delete;
  SortedLines& operator=(const SortedLines&) = delete;

  // `line` without its end.
  void add(std::uint64_t time, std::string_view line);
  // All of them; once.
  Status write(OutputFile& out);

 private:
  struct Line {
    std::uint64_t time;
    std::uint32_t at, size;  // in text_
  };
  struct Run {  // in the file
    std::uint64_t begin, end;
  };
  struct Head;
  void sort();
  void spill();
  Error failure() const;

  std::size_t memory_;
  std::string text_;
  std::vector<Line> lines_;
  std::vector<Run> runs_;
  std::string directory_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  int failed_ = 0;  // errno
};

}  // namespace kojak::exporting

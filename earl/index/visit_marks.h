// How often one location has entered each call path, written down every few thousand ENTERs.
//
// Marks are as far apart as they are long, so that they take less than half a byte an ENTER. Owns
// what it holds; any thread may read. Internal to random access.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "earl/index/numbers.h"

namespace kojak::earl {

class VisitMarks {
 public:
  // Whether a mark is due with this ENTER; to be asked once for each.
  bool due() { return ++enters_ >= next_; }
  // visits(path): up to and with the ENTER `pos`.
  template <class Visits>
  void add(std::uint64_t pos, std::size_t paths, Visits&& visits) {
    enters_ = 0;
    next_ = std::max(kLeast, 8 * paths);
    marks_.push_back({pos, bytes_.size()});
    NumberWriter out(bytes_);
    std::uint32_t before = 0;
    for (std::uint32_t path = 0; path < paths; ++path) {
      const std::uint64_t n = visits(path);
      if (n == 0) continue;
      out.numbers(path - before, n);
      before = path;
    }
  }
  struct Visits {
    std::uint64_t from = 0;   // ENTERs from here on are to be added
    std::uint64_t count = 0;  // before
  };
  // What the latest mark at or before `pos` says of the path.
  Visits before(std::uint64_t pos, std::uint32_t path) const;

  std::size_t memory() const {
    return sizeof *this + marks_.capacity() * sizeof(Mark) + bytes_.capacity();
  }
  void finish() {
    marks_.shrink_to_fit();
    bytes_.shrink_to_fit();
  }
  void save(std::vector<std::byte>& to) const { save_lists(marks_, bytes_, to); }
  bool load(std::span<const std::byte>& from) { return load_lists(from, marks_, bytes_); }

 private:
  static constexpr std::size_t kLeast = 1024;  // ENTERs between two marks
  struct Mark {
    std::uint64_t pos, offset;
  };
  std::size_t enters_ = 0, next_ = kLeast;
  std::vector<Mark> marks_;
  std::vector<std::byte> bytes_;
};

}  // namespace kojak::earl

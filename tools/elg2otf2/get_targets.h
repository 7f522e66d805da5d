// Looks ahead for what the trace says of a get only later: from which process it reads, and how
// much.
//
// MPI_GET_1TO stands in the call, MPI_GET_1TS where the data start at the target. A second reader
// of the same file runs ahead as far as it must, but no more than kMost gets: a get whose data
// never start has no target. Memory: the gets between the two readers. Single-threaded.
// Source: docs/format.md.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "epilog/format/io/reader.h"
#include "epilog/format/record/records.h"

namespace kojak::otf2 {

class GetTargets {
 public:
  struct Target {
    PeerId process = absent<PeerId>();
    Bytes bytes = absent<Bytes>();  // absent: more than fits
    bool known = false;
  };

  static constexpr std::size_t kMost = std::size_t{1} << 16;  // gets ahead of the first reader

  // Without a file (standard input is read once) no get has a target.
  explicit GetTargets(std::optional<TraceReader> ahead) : ahead_(std::move(ahead)) {}

  // The next MPI_GET_1TO needs no look-ahead.
  void skip() { ++skipped_; }
  // Of the next MPI_GET_1TO in the trace.
  Target next() {
    for (; skipped_ != 0 && ahead_; read()) {
      for (; skipped_ != 0 && !gets_.empty(); --skipped_) drop();
    }
    while (ahead_ && (gets_.empty() || (!gets_.front().target.known && gets_.size() < kMost)) &&
           read()) {
    }
    if (gets_.empty()) return {};
    return drop();
  }

 private:
  struct Get {
    std::uint64_t key;
    Target target;
  };
  Target drop() {
    const Get get = gets_.front();
    if (!get.target.known) {  // its data start too late, or never
      const auto open = open_.find(get.key);
      if (open != open_.end() && open->second == first_) open_.erase(open);
    }
    gets_.pop_front();
    ++first_;
    return get.target;
  }
  static std::uint64_t key(std::uint32_t origin, RmaId number) {
    return std::uint64_t{origin} << 32 | raw(number);
  }
  // One record further; false at the end.
  bool read() {
    RawRecord record;
    if (ahead_->next(record) != TraceReader::Next::kRecord) {
      ahead_.reset();
      return false;
    }
    if (record.type == static_cast<std::uint8_t>(RecordType::kMpiGet1to)) {
      MpiGet1to get;
      if (decode(record, ahead_->dialect(), get) != nullptr) return true;
      const std::uint64_t which = key(raw(get.lid), get.rmaid);
      open_[which] = first_ + gets_.size();
      gets_.push_back({which, {}});
    } else if (record.type == static_cast<std::uint8_t>(RecordType::kMpiGet1ts)) {
      MpiGet1ts start;
      if (decode(record, ahead_->dialect(), start) != nullptr) return true;
      const auto open = open_.find(key(raw(start.dlid), start.rmaid));
      if (open == open_.end()) return true;
      gets_[open->second - first_].target = {PeerId{raw(start.lid)}, start.sent, true};
      open_.erase(open);
    }
    return true;
  }

  std::optional<TraceReader> ahead_;
  std::uint64_t skipped_ = 0;
  std::deque<Get> gets_;                                   // from the first reader's place on
  std::uint64_t first_ = 0;                                // number of the first of them
  std::unordered_map<std::uint64_t, std::uint64_t> open_;  // by origin and number: which get
};

}  // namespace kojak::otf2

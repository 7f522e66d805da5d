// What the trace tells of a get only later: which process it reads from, and how much.
//
// MPI_GET_1TO stands in the call, MPI_GET_1TS where the data start at the target. A second reader
// of the same file runs ahead as far as it must. Memory: the gets between it and the first reader.
// Single-threaded. Nothing fails: a get whose start is not found has no target. Source:
// docs/format.md.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "epilog/format/reader.h"
#include "epilog/format/records.h"

namespace kojak::otf2 {

class GetTargets {
 public:
  struct Target {
    PeerId process = absent<PeerId>();
    Bytes bytes = absent<Bytes>();  // absent: more than fits
    bool known = false;
  };

  // Without a file (standard input is read once) no get has a target.
  explicit GetTargets(std::optional<TraceReader> ahead) : ahead_(std::move(ahead)) {}

  // Of the next MPI_GET_1TO in the trace.
  Target next() {
    while (ahead_ && (gets_.empty() || !gets_.front().known) && read()) {
    }
    if (gets_.empty()) return {};
    const Target target = gets_.front();
    gets_.pop_front();
    ++first_;
    return target;
  }

 private:
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
      open_[key(raw(get.lid), get.rmaid)] = first_ + gets_.size();
      gets_.push_back({});
    } else if (record.type == static_cast<std::uint8_t>(RecordType::kMpiGet1ts)) {
      MpiGet1ts start;
      if (decode(record, ahead_->dialect(), start) != nullptr) return true;
      const auto open = open_.find(key(raw(start.dlid), start.rmaid));
      if (open == open_.end()) return true;
      if (open->second >= first_) {
        gets_[open->second - first_] = {PeerId{raw(start.lid)}, start.sent, true};
      }
      open_.erase(open);
    }
    return true;
  }

  std::optional<TraceReader> ahead_;
  std::deque<Target> gets_;                                // from the first reader's place on
  std::uint64_t first_ = 0;                                // number of the first of them
  std::unordered_map<std::uint64_t, std::uint64_t> open_;  // by origin and number: which get
};

}  // namespace kojak::otf2

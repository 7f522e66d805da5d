#include "tests/support/as_measured.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "epilog/format/compact/encode.h"
#include "epilog/format/io/reader.h"

namespace kojak::support {
namespace {

using Octets = std::vector<std::byte>;

constexpr compact::TickClock kClock{1000, 1e-9, 0};

class InTicks {
 public:
  template <class T>
  void field(const FieldInfo&, T& value) {
    if constexpr (std::is_same_v<T, Seconds>) {
      const auto passed = static_cast<std::int64_t>(std::llround(value.value / kClock.scale));
      value = compact::stamp(kClock.base + static_cast<std::uint64_t>(passed));
    } else if constexpr (std::is_same_v<T, Duration>) {
      const auto ticks = static_cast<std::uint64_t>(std::llround(value.value / kClock.scale));
      value = compact::stamp_length(ticks);
    }
  }
  void metrics(const FieldInfo&, const MetricValues&) {}
  void rest(const FieldInfo&, const MetricValues&) {}
};

class Writer {
 public:
  explicit Writer(const Octets& trace) {
    auto reader = TraceReader::from(memory_source(trace.data(), trace.size()), "trace");
    RawRecord record;
    while (reader && reader->next(record) == TraceReader::Next::kRecord) {
      records_.emplace_back(record.body - 2, record.body + record.length);
      metrics_.push_back(reader->dialect().metrics);
    }
    packed_.resize(kHeaderSize);
    encode_header({compact::kMajor, 0, trace[kHeaderSize - 1] == std::byte{2}}, packed_.data());
    append(compact::begin_block(state_, kClock, item_));
  }

  Octets write() {
    while (at_ < records_.size()) {
      if (!joint()) record();
    }
    return packed_;
  }

 private:
  // The record that many further on, if it is of this type.
  template <class R>
  R ahead(std::size_t n) const {
    R record{};
    if (at_ + n >= records_.size()) return record;
    const Octets& bytes = records_[at_ + n];
    if (bytes[1] != static_cast<std::byte>(R::kType)) return record;
    (void)decode(raw_record(bytes), dialect(at_ + n), record);
    return record;
  }
  Dialect dialect(std::size_t record) const {
    Dialect result;
    result.metrics = metrics_[record];
    return result;
  }
  static RawRecord raw_record(const Octets& bytes) {
    return {std::to_integer<std::uint8_t>(bytes[1]), std::to_integer<std::uint8_t>(bytes[0]),
            bytes.data() + 2, 0};
  }

  bool joint() {
    const auto enter = ahead<Enter>(0);
    const auto exit = ahead<Exit>(0);
    const auto taken = ahead<OmpALock>(0), later = ahead<OmpALock>(1);
    const auto fork = ahead<OmpFork>(0);
    return joint(compact::LockEntered{enter.lid, enter.time, later.lkid, enter.rid,
                                      ahead<Enter>(2).rid}) ||
           joint(compact::LockSet{enter.lid, enter.time, later.time, enter.rid, later.lkid}) ||
           joint(compact::LockTaken{taken.lid, taken.time, taken.lkid, ahead<Enter>(1).rid}) ||
           joint(compact::LockLeft{exit.lid, exit.time, ahead<OmpRLock>(1).lkid}) ||
           joint(compact::TeamOfOne{fork.lid, fork.time, ahead<Enter>(1).rid,
                                    ahead<OmpTeam>(2).team}) ||
           joint(compact::TeamLeft{exit.lid, exit.time});
  }
  // If the next records are what it stands for.
  template <class J>
  bool joint(J item) {
    std::size_t n = 0;
    bool same = true;
    item.expand([&](const auto& record) {
      std::byte bytes[kMaxRecord];
      const std::size_t size = encode(record, Dialect{}, bytes);
      same = same && at_ + n < records_.size() &&
             std::equal(bytes, bytes + size, records_[at_ + n].begin(), records_[at_ + n].end());
      ++n;
    });
    if (!same) return false;
    visit_fields(item, Dialect{}, InTicks());
    append(compact::encode(state_, item, item_));
    at_ += n;
    return true;
  }

  void record() {
    const Octets& bytes = records_[at_];
    bool whole = false;
    dispatch_record(std::to_integer<std::uint8_t>(bytes[1]), [&]<class R>() {
      if constexpr (compact::kHasCode<R>) {
        R record;
        whole = decode(raw_record(bytes), dialect(at_), record) == nullptr;
        if (!whole) return;
        visit_fields(record, Dialect{}, InTicks());
        append(compact::encode(state_, record, item_));
      }
    });
    if (!whole) {
      packed_.push_back(std::byte{compact::kVerbatim});
      packed_.insert(packed_.end(), bytes.begin(), bytes.end());
    }
    ++at_;
  }

  void append(const std::byte* end) {
    packed_.insert(packed_.end(), static_cast<const std::byte*>(item_), end);
  }

  std::vector<Octets> records_;
  std::vector<std::uint32_t> metrics_;  // counters when each was read
  std::size_t at_ = 0;
  compact::State state_;
  std::byte item_[compact::kMaxItem];
  Octets packed_;
};

}  // namespace

std::vector<std::byte> as_measured(const std::vector<std::byte>& trace) {
  return Writer(trace).write();
}

}  // namespace kojak::support

// Writes events of the merged trace into the writer's buffer.
//
// Plain: native, without hardware counters and lock grants, so that every layout is known at
// compile time. A classic file gets no record that is native only; those are counted. The emitter
// caches the writer's free room; nobody else may write between the first event and finish(). Before
// each step make_room() must have been called: a step writes at most kStep bytes, except for loops
// over released ends, which call it again. Errors are the writer's.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "epilog/format/io/writer.h"
#include "merge/complete/held_ends.h"
#include "merge/complete/transfer_ends.h"
#include "merge/write/classic.h"

namespace kojak::merge {

template <bool Plain>
class Emitter {
 public:
  static constexpr std::size_t kStep = 32 * kMaxRecord;

  explicit Emitter(TraceWriter& writer) : writer_(writer), dialect_(writer.dialect()) {
    take_room();
  }

  [[gnu::always_inline]] void make_room() {
    if (static_cast<std::size_t>(end_ - to_) < kStep) [[unlikely]]
      take_room();
  }
  template <class R>
  [[gnu::always_inline]] void put(const R& record) {
    if constexpr (!Plain && !in_classic_files<R>()) {
      if (!dialect_.native()) {
        leave_out(static_cast<std::uint8_t>(R::kType));
        return;
      }
    }
    ++by_type_[static_cast<std::size_t>(R::kType)];
    if constexpr (Plain) {
      constexpr Dialect kDialect{};
      to_ += encode(record, kDialect, to_);
    } else {
      to_ += encode(record, dialect_, to_);
    }
  }
  // An attribute record as it stands.
  void put_raw(const std::byte* record, std::size_t size) {
    std::memcpy(to_, record, size);
    to_ += size;
  }
  template <class R>
  void put_attribute(const R& attribute) {
    to_ += encode(attribute, dialect_, to_);
  }
  void put_bytes_attribute(std::uint8_t kind, std::uint64_t bytes) {
    if (!native()) return;
    const AttrUi8 attribute{Byte{kind}, Count64{bytes}};
    to_ += encode(attribute, dialect_, to_);
  }
  // What stands in the event for a byte count; the true count goes before it if it is too large.
  [[gnu::always_inline]] Bytes bytes_field(std::uint8_t kind, std::uint64_t bytes) {
    if (bytes < kAbsent) [[likely]]
      return Bytes{static_cast<std::uint32_t>(bytes)};
    if (bytes != kNoBytes) put_bytes_attribute(kind, bytes);
    return absent<Bytes>();
  }
  // An end, with its mark if it has one, at this time.
  [[gnu::always_inline]] void put_end(const ListInfo& info, const HeldEnd& end, std::uint32_t lid,
                                      double time, Mark mark) {
    if (mark != Mark::kNone) [[unlikely]] {
      put(RmaMark{LocationId{lid}, Seconds{time}, PeerId{origin_of(info, end)}, RmaId{end.rmaid},
                  Byte{static_cast<std::uint8_t>(mark)}});
    }
    const Bytes bytes = bytes_field(raw(kAttrBytesReceived), end.bytes);
    if (is_context(info.window)) [[unlikely]] {
      if (info.put) {
        put(Put1te{LocationId{lid}, Seconds{time}, PeerId{end.peer}, RmaId{end.rmaid}, bytes});
      } else {
        put(Get1te{LocationId{lid}, Seconds{time}, PeerId{end.peer}, RmaId{end.rmaid}, bytes});
      }
    } else if (info.put) {
      put(MpiPut1te{LocationId{lid}, Seconds{time}, PeerId{end.peer}, WindowId{info.window},
                    RmaId{end.rmaid}, bytes});
    } else {
      put(MpiGet1te{LocationId{lid}, Seconds{time}, PeerId{end.peer}, WindowId{info.window},
                    RmaId{end.rmaid}, bytes});
    }
  }
  void finish() {
    writer_.used(static_cast<std::size_t>(to_ - begin_));
    begin_ = to_ = end_ = nullptr;
  }
  const std::array<std::uint64_t, 256>& by_type() const { return by_type_; }
  // Classic: a record that is not written.
  void leave_out(std::uint8_t type) { ++left_out_[type]; }
  std::uint64_t left_out(RecordType type) const {
    return left_out_[static_cast<std::size_t>(type)];
  }
  std::uint64_t left_out() const {
    return std::accumulate(left_out_.begin(), left_out_.end(), std::uint64_t{0});
  }
  bool native() const { return Plain || dialect_.native(); }

 private:
  void take_room() {
    if (begin_ != nullptr) writer_.used(static_cast<std::size_t>(to_ - begin_));
    const std::span<std::byte> room = writer_.room(kStep);
    begin_ = to_ = room.data();
    end_ = begin_ + room.size();
  }
  TraceWriter& writer_;
  Dialect dialect_;
  std::byte* begin_ = nullptr;
  std::byte* to_ = nullptr;
  std::byte* end_ = nullptr;
  std::array<std::uint64_t, 256> by_type_{}, left_out_{};
};

}  // namespace kojak::merge

#include "epilog/format/compact/decode.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "epilog/format/compact/source.h"
#include "epilog/format/io/reader.h"

namespace kojak::compact {
namespace {

// Null if it is longer than any number.
KOJAK_INLINED inline const std::byte* get_number(const std::byte* p, std::uint64_t& value) {
  auto byte = std::to_integer<std::uint64_t>(*p++);
  if (byte < 0x80) [[likely]] {
    value = byte;
    return p;
  }
  value = byte & 0x7F;
  for (unsigned shift = 7; shift < 64; shift += 7) {
    byte = std::to_integer<std::uint64_t>(*p++);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return shift == 63 && byte > 1 ? nullptr : p;
  }
  return nullptr;
}

// Reads the fields of one record and writes its body.
template <class R, bool kSwap>
class FieldReader {
 public:
  FieldReader(State& state, const TickClock* clock, std::uint32_t present, const std::byte* in,
              std::byte* out)
      : s_(state), clock_(clock), present_(present), in_(in), out_(out) {}

  template <class T>
  KOJAK_INLINED void field(const FieldInfo&, const T&) {
    const bool here = (present_ >> bit_++ & 1) != 0;
    if constexpr (std::is_same_v<T, LocationId>) {
      if (here) s_.location += unzigzag(number<std::uint32_t>());
      put(s_.location);
    } else if constexpr (std::is_same_v<T, Seconds>) {
      if (here) s_.time += unzigzag(number<std::uint64_t>());
      put(clock_ != nullptr ? clock_->seconds(s_.time).value : std::bit_cast<double>(s_.time));
    } else if constexpr (std::is_same_v<T, Duration>) {
      std::uint64_t& last = s_.values[slot_++];
      if (here) last += unzigzag(number<std::uint64_t>());
      put(clock_ != nullptr ? clock_->length(last).value : std::bit_cast<double>(last));
    } else if constexpr (sizeof(T) == 1) {
      std::uint64_t& last = s_.values[slot_++];
      if (here) last = std::to_integer<std::uint64_t>(*in_++);
      put(static_cast<std::uint8_t>(last));
    } else {
      using U = std::underlying_type_t<T>;
      std::uint64_t& last = s_.values[slot_++];
      auto value = static_cast<U>(last);
      if constexpr (kCounts<T>) {
        std::uint64_t& step = s_.values[slot_++];
        value = static_cast<U>(value + static_cast<U>(step));
        if (here) value = static_cast<U>(value + unzigzag(number<U>()));
        step = static_cast<U>(value - static_cast<U>(last));
        last = value;
      } else if (here) {
        value = static_cast<U>(value + unzigzag(number<U>()));
        last = value;
      }
      if constexpr (std::is_same_v<T, PeerId>) value = peer_at(value, s_.location);
      put(value);
    }
  }
  KOJAK_INLINED void metrics(const FieldInfo&, const MetricValues&) {
    if ((present_ >> bit_++ & 1) != 0) [[unlikely]]
      read_metrics();
  }
  KOJAK_INLINED void rest(const FieldInfo& info, const MetricValues& values) {
    metrics(info, values);
  }
  const std::byte* in() const { return in_; }
  std::byte* out() const { return out_; }

 private:
  template <class U>
  KOJAK_INLINED U number() {
    std::uint64_t value = 0;
    const std::byte* const next = get_number(in_, value);
    if (next == nullptr || value > std::numeric_limits<U>::max()) [[unlikely]] {
      bad_ = true;
    } else {
      in_ = next;
    }
    return static_cast<U>(value);
  }
  template <class U>
  KOJAK_INLINED void put(U value) {
    if constexpr (kSwap) value = byte_swapped(value);
    std::memcpy(out_, &value, sizeof value);
    out_ += sizeof value;
  }
  [[gnu::noinline]] void read_metrics() {
    const auto count = std::to_integer<std::size_t>(*in_++);
    if (shape_of<R>().bytes + 8 * count > kMaxBody) {
      bad_ = true;
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      s_.metrics[i] += unzigzag(number<std::uint64_t>());
      put(s_.metrics[i]);
    }
  }

 public:
  bool bad() const { return bad_; }

 private:
  State& s_;
  const TickClock* clock_;
  std::uint32_t present_;
  const std::byte* in_;
  std::byte* out_;
  unsigned bit_ = 0;
  unsigned slot_ = kSlotTable.first[code_of(static_cast<std::uint8_t>(R::kType))];
  bool bad_ = false;
};

constexpr const char* kUnknownCode = "a compact record of unknown type";
constexpr const char* kUnknownField = "a compact record with a field that its type does not have";
constexpr const char* kBadNumber = "a number of a compact record is out of range";
constexpr const char* kNoBlock = "a compact record outside of a block";
constexpr const char* kUnknownTimes = "a block of unknown kind";
constexpr const char* kTooLong = "a block is longer than blocks are";
constexpr const char* kBehindChecked = "what stands behind a block with a checksum has none";
constexpr const char* kBeyondBlock = "a compact record goes beyond its block";
constexpr const char* kNested = "a block begins inside of another";

}  // namespace

template <bool kSwap>
KOJAK_INLINED inline const std::byte* Decoder::item(const std::byte* in, std::byte*& out) {
  const auto first = std::to_integer<std::uint8_t>(*in);
  const auto code = static_cast<std::uint8_t>(first & ~kSameFields);
  if (code == kVerbatim) [[unlikely]]
    return other_item(in, out);
  if (!in_block_) [[unlikely]] {
    reason_ = kNoBlock;
    return nullptr;
  }
  ++in;
  std::uint32_t present = state_.fields[code];
  if ((first & kSameFields) == 0) {
    std::uint64_t set = 0;
    const std::byte* const behind = get_number(in, set);
    if (behind == nullptr || set >> kMostFields != 0) [[unlikely]] {
      reason_ = kUnknownField;
      return nullptr;
    }
    in = behind;
    present = static_cast<std::uint32_t>(set);
    state_.fields[code] = present;
  }
  const std::byte* next = nullptr;
  const std::uint8_t type = type_of(code);
  const bool known = dispatch_record(type, [&]<class R>() KOJAK_INLINED {
    if constexpr (kHasCode<R>) {
      constexpr Shape kShape = shape_of<R>();
      if (present >> kShape.bits != 0) [[unlikely]] {
        reason_ = kUnknownField;
        return;
      }
      FieldReader<R, kSwap> reader(state_, times_ == Times::kTicks ? &clock_ : nullptr, present, in,
                                   out + 2);
      R record{};
      visit_fields(record, Dialect{}, reader);
      if (reader.bad()) [[unlikely]] {
        reason_ = kBadNumber;
        return;
      }
      out[0] = static_cast<std::byte>(reader.out() - out - 2);
      out[1] = std::byte{static_cast<std::uint8_t>(R::kType)};
      out = reader.out();
      next = reader.in();
    } else {
      reason_ = kUnknownCode;
    }
  });
  if (!known) [[unlikely]]
    return joint_item<kSwap>(type, present, in, out);
  return next;
}

// Several records.
template <bool kSwap>
[[gnu::noinline]] const std::byte* Decoder::joint_item(std::uint8_t type, std::uint32_t present,
                                                       const std::byte* in, std::byte*& out) {
  const std::byte* next = nullptr;
  const bool known = dispatch_joint(type, [&]<class J>() {
    constexpr Shape kShape = shape_of<J>();
    if (present >> kShape.bits != 0) {
      reason_ = kUnknownField;
      return;
    }
    std::byte body[kShape.bytes];
    FieldReader<J, false> reader(state_, times_ == Times::kTicks ? &clock_ : nullptr, present, in,
                                 body);
    J joint;
    visit_fields(joint, Dialect{}, reader);
    if (reader.bad()) {
      reason_ = kBadNumber;
      return;
    }
    kojak::decode({J::kType, kShape.bytes, body, 0}, Dialect{}, joint);
    Dialect dialect;
    if (kSwap) dialect.big_endian = !dialect.big_endian;
    joint.expand([&](const auto& record) { out += encode(record, dialect, out); });
    next = reader.in();
  });
  if (!known) reason_ = kUnknownCode;
  return next;
}

// Blocks and records that are not compact.
const std::byte* Decoder::other_item(const std::byte* in, std::byte*& out) {
  if (std::to_integer<std::uint8_t>(*in) == kVerbatim) {
    const std::size_t size = 2 + std::to_integer<std::size_t>(in[1]);
    std::memcpy(out, in + 1, size);
    out += size;
    return in + 1 + size;
  }
  const auto times = static_cast<Times>(in[1]);
  if (times > Times::kTicks) {
    reason_ = kUnknownTimes;
    return nullptr;
  }
  state_.reset();
  times_ = times;
  in_block_ = true;
  in += 2;
  if (times == Times::kSeconds) return in;
  std::memcpy(&clock_.base, in, 8);
  std::memcpy(&clock_.scale, in + 8, 8);
  std::memcpy(&clock_.shift, in + 16, 8);
  if (swap_) {
    clock_.base = byte_swapped(clock_.base);
    clock_.scale = byte_swapped(clock_.scale);
    clock_.shift = byte_swapped(clock_.shift);
  }
  return in + 24;
}

// False, as its callers return then.
bool Decoder::damaged(Piece& piece, const char* reason) {
  piece.stop = Stop::kDamaged;
  reason_ = reason;
  return false;
}

std::uint32_t Decoder::u4(const std::byte* p) const {
  std::uint32_t value = 0;
  std::memcpy(&value, p, sizeof value);
  return swap_ ? byte_swapped(value) : value;
}

// The head of a block with a checksum is here, or should be; `available` bytes are there. False if
// that ends the piece.
bool Decoder::has_checked_head(Piece& piece, std::size_t available, bool last) {
  const std::byte* const head = piece.in;
  if (available < kCheckedHead) return last ? damaged(piece, kEndsInsideRecord) : false;
  if (head[0] != std::byte{kBlock} || head[1] != std::byte{kCheckedBlock}) {
    return damaged(piece, kBehindChecked);
  }
  return true;
}

// Begins a block whose head is here. False if what is wrong or missing ends the piece.
bool Decoder::open_checked(Piece& piece, std::size_t available, bool last) {
  const std::byte* const head = piece.in;
  const std::size_t length = u4(head + 2);
  if (length > kMaxBlock - kCheckedHead) return damaged(piece, kTooLong);
  if (available - kCheckedHead >= length) {
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(head + kCheckedHead), static_cast<uInt>(length));
    if (sum != u4(head + 6)) return damaged(piece, kWrongChecksum);
  } else if (!last) {
    piece.needs = kCheckedHead + length;
    return false;
  }
  state_.reset();
  times_ = Times::kSeconds;
  in_block_ = true;
  left_ = length;
  piece.block = head;
  piece.block_out = piece.out;
  piece.in += kCheckedHead;
  return true;
}

// The items up to the end of the block, if it has a checksum, else up to one that has. False if
// something else ends the piece before.
template <bool kSwap>
bool Decoder::items(Piece& piece, const std::byte* end, bool last, bool one_block,
                    std::byte* out_end) {
  const std::byte* const from = piece.in;
  const auto available = static_cast<std::size_t>(end - from);
  const std::byte* const limit = left_ < available ? from + left_ : end;
  const auto room = [&] { return static_cast<std::size_t>(out_end - piece.out) >= kMaxRecord; };
  bool checked = false;  // the next block has a checksum
  // True if that ends it. `item`: the bytes at `at`, with something behind them.
  const auto block_begins = [&](const std::byte* at, const std::byte* item) {
    if (std::to_integer<std::uint8_t>(*item) != kBlock) [[likely]]
      return false;
    if (left_ != kOpen) return !damaged(piece, kNested);
    checked = item[1] == std::byte{kCheckedBlock};
    if (checked) return true;
    if (one_block && in_block_) {
      piece.stop = Stop::kNextBlock;
      return true;
    }
    piece.block = at;
    piece.block_out = piece.out;
    return false;
  };
  const auto taken = [&] {
    const auto size = static_cast<std::size_t>(piece.in - from);
    if (left_ == kOpen) return true;
    if (size > left_) return damaged(piece, kBeyondBlock);
    left_ -= size;
    return true;
  };
  const std::byte* const safe = available < kMaxItem ? from : std::min(limit, end - kMaxItem + 1);
  while (piece.in < safe) {
    if (!room()) {
      piece.stop = Stop::kOutput;
      taken();
      return false;
    }
    if (block_begins(piece.in, piece.in)) return checked;
    const std::byte* const next = item<kSwap>(piece.in, piece.out);
    if (next == nullptr) [[unlikely]] {
      piece.stop = Stop::kDamaged;
      return false;
    }
    piece.in = next;
  }
  // The end of the input: with zeros behind it, so that nothing reads beyond.
  while (last && piece.in < limit) {
    if (!room()) {
      piece.stop = Stop::kOutput;
      taken();
      return false;
    }
    const auto left = static_cast<std::size_t>(end - piece.in);
    std::byte padded[kMaxItem] = {};
    std::memcpy(padded, piece.in, left);
    if (block_begins(piece.in, padded)) return checked;
    std::byte* behind = piece.out;
    const std::byte* const next = item<kSwap>(padded, behind);
    const bool torn = next == nullptr ? left < 2 : static_cast<std::size_t>(next - padded) > left;
    if (next == nullptr || torn) {
      if (torn) reason_ = kEndsInsideRecord;
      piece.stop = Stop::kDamaged;
      return false;
    }
    piece.out = behind;
    piece.in += next - padded;
  }
  if (!taken()) return false;
  if (left_ == 0) return true;
  return last && left_ != kOpen ? damaged(piece, kEndsInsideBlock) : false;
}

template <bool kSwap>
Decoder::Piece Decoder::run(const std::byte* in, const std::byte* end, bool last, bool one_block,
                            std::byte* out, std::byte* out_end) {
  Piece piece{in, out, Stop::kInput};
  for (;;) {
    piece.stop = Stop::kInput;
    const auto available = static_cast<std::size_t>(end - piece.in);
    if (available == 0 && (left_ == 0 || left_ == kOpen)) return piece;
    const bool checked = available >= 2 && piece.in[0] == std::byte{kBlock} &&
                         piece.in[1] == std::byte{kCheckedBlock};
    if (left_ == 0 || (left_ == kOpen && checked)) {
      // Said by the block before: who decodes the next one alone cannot know what it follows.
      if (!has_checked_head(piece, available, last)) return piece;
      if (one_block && in_block_) {
        piece.stop = Stop::kNextBlock;
        return piece;
      }
      if (!open_checked(piece, available, last)) return piece;
    }
    if (!items<kSwap>(piece, end, last, one_block, out_end)) return piece;
  }
}

Decoder::Piece Decoder::decode(const std::byte* in, const std::byte* end, bool last, std::byte* out,
                               std::byte* out_end) {
  return swap_ ? run<true>(in, end, last, false, out, out_end)
               : run<false>(in, end, last, false, out, out_end);
}

Decoder::Piece Decoder::decode_block(const std::byte* in, const std::byte* end, std::byte* out,
                                     std::byte* out_end) {
  return swap_ ? run<true>(in, end, true, true, out, out_end)
               : run<false>(in, end, true, true, out, out_end);
}

}  // namespace kojak::compact

// Basic types of EPILOG records: identifiers, units and views into packed bodies.
//
// Identifiers are distinct types, so that a window cannot be passed where a communicator is meant.
// Views (PackedArray, std::string_view) point into the buffer of whoever decoded the record and die
// with it; nothing here owns memory or fails. Source: docs/format.md; thesis, appendix.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

// Inlined whatever the compiler thinks of it: the speed of recording, reading and writing rests on
// it. Not where nobody asks for that speed, and the copies take minutes to compile: under the
// sanitizers, and where only tests run what is built.
#if defined(KOJAK_SANITIZED) || defined(KOJAK_BUILT_FOR_TESTS)
#define KOJAK_INLINED
#else
#define KOJAK_INLINED __attribute__((always_inline))
#endif

namespace kojak {

// "Absent" in every u4 identifier, line or number.
inline constexpr std::uint32_t kAbsent = 0xFFFFFFFFu;

#define KOJAK_ID_TYPE(Name) enum class Name : std::uint32_t {}
KOJAK_ID_TYPE(StringId);
KOJAK_ID_TYPE(MachineId);
KOJAK_ID_TYPE(NodeId);
KOJAK_ID_TYPE(ProcessId);  // rank in MPI_COMM_WORLD
KOJAK_ID_TYPE(ThreadId);
KOJAK_ID_TYPE(LocationId);  // a thread of a process: one time line of the trace
KOJAK_ID_TYPE(
    PeerId);  // a process, written as its thread 0: world rank == location in a merged file
KOJAK_ID_TYPE(FileId);
KOJAK_ID_TYPE(RegionId);
KOJAK_ID_TYPE(MetricId);
KOJAK_ID_TYPE(CommId);
KOJAK_ID_TYPE(GroupId);
KOJAK_ID_TYPE(WindowId);
KOJAK_ID_TYPE(CallSiteId);
KOJAK_ID_TYPE(CallPathId);
KOJAK_ID_TYPE(TopologyId);
KOJAK_ID_TYPE(LockId);
#undef KOJAK_ID_TYPE

// Plain u4 fields that are no identifiers of definitions.
enum class Line : std::uint32_t {};       // source line, absent if unknown
enum class Count : std::uint32_t {};      // a number of things
enum class Tag : std::uint32_t {};        // MPI tag (MPI_ANY_TAG as posted is absent)
enum class RmaId : std::uint32_t {};      // number of an RMA operation of one process, from 0
enum class RequestId : std::uint32_t {};  // number of a request of one process, from 0
enum class Bytes : std::uint32_t {
};  // byte count; kAbsent: the true count is in the ATTR_UI8 before
enum class Assertion : std::uint32_t {};  // MPI_MODE_* in kojak's own bits, see kAssert...
// u8 fields
enum class Count64 : std::uint64_t {};
enum class Bytes64 : std::uint64_t {};
enum class Hash64 : std::uint64_t {};  // half of a 128-bit identity
// u1 fields
enum class Byte : std::uint8_t {};  // a small number or code
enum class Flags : std::uint8_t {};

template <class E>
requires std::is_enum_v<E>
constexpr auto raw(E id) {
  return static_cast<std::underlying_type_t<E>>(id);
}
template <class E>
requires(std::is_enum_v<E> && sizeof(E) == 4) constexpr E absent() {
  return static_cast<E>(kAbsent);
}
template <class E>
requires(std::is_enum_v<E> && sizeof(E) == 4) constexpr bool is_absent(E id) {
  return raw(id) == kAbsent;
}

// Assertions as recorded by MPI_ASSERT, independent of any MPI library's constants.
inline constexpr std::uint32_t kAssertNoCheck = 1, kAssertNoStore = 2, kAssertNoPut = 4,
                               kAssertNoPrecede = 8, kAssertNoSucceed = 16;

// What an attribute record tells of the event that follows it. kLastAttribute is the highest.
inline constexpr Byte kAttrAnyness{1}, kAttrRequest{2}, kAttrBytes{3}, kAttrRegion{4},
    kAttrBytesSent{5}, kAttrBytesReceived{6}, kAttrCreatedBy{7}, kAttrCollectiveFlags{8},
    kAttrAllocation{9};
inline constexpr Byte kLastAttribute = kAttrAllocation;

// What is open on a window (WIN_STATE), and towards one peer (EPOCH_STATE).
inline constexpr std::uint8_t kOpenFence = 1;                      // WIN_STATE
inline constexpr std::uint8_t kOpenAccess = 1, kOpenExposure = 2;  // EPOCH_STATE
inline constexpr std::uint8_t kOpenShared = 4, kOpenExclusive = 8;
inline constexpr std::uint8_t kOpenLock = kOpenShared | kOpenExclusive;
inline constexpr std::uint8_t kOpenNoCheck = 16, kOpenLockAll = 32;

// What a LOST record counts.
inline constexpr Byte kLostDiskFull{1}, kLostOpenRegions{2}, kLostUnknownWindows{3},
    kLostBehindDamage{4}, kLostDamaged{5}, kLostEnd{6}, kLostLimit{7};

// A time or duration in seconds.
struct Seconds {
  double value = 0;
  // (Not by <=>: compilers make more than one comparison of it for a double.)
  friend constexpr bool operator==(Seconds a, Seconds b) { return a.value == b.value; }
  friend constexpr bool operator<(Seconds a, Seconds b) { return a.value < b.value; }
  friend constexpr bool operator>(Seconds a, Seconds b) { return a.value > b.value; }
  friend constexpr bool operator<=(Seconds a, Seconds b) { return a.value <= b.value; }
  friend constexpr bool operator>=(Seconds a, Seconds b) { return a.value >= b.value; }
  constexpr Seconds& operator+=(Seconds o) {
    value += o.value;
    return *this;
  }
  constexpr Seconds& operator-=(Seconds o) {
    value -= o.value;
    return *this;
  }
  friend constexpr Seconds operator+(Seconds a, Seconds b) { return {a.value + b.value}; }
  friend constexpr Seconds operator-(Seconds a, Seconds b) { return {a.value - b.value}; }
  friend constexpr Seconds operator*(Seconds a, double f) { return {a.value * f}; }
};

// A length of time in seconds. In files with ticks it is a number of these, where a Seconds is a
// point in time.
struct Duration {
  double value = 0;
  friend constexpr bool operator==(Duration a, Duration b) { return a.value == b.value; }
};

// Fields of eight bytes that hold a floating-point number.
template <class T>
inline constexpr bool kIsTime = std::is_same_v<T, Seconds> || std::is_same_v<T, Duration>;

template <class T>
constexpr T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  } else {
    return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  }
}

// A view of `count` packed values of unsigned type T, in the file's byte order.
template <class T>
class PackedArray {
 public:
  constexpr PackedArray() = default;
  constexpr PackedArray(const std::byte* data, std::uint32_t count, bool swap)
      : data_(data), count_(count), swap_(swap) {}
  // Over values in this machine's order, which must outlive the view.
  template <class Container>
  static PackedArray of(const Container& values) {
    static_assert(sizeof(*values.data()) == sizeof(T));
    return {reinterpret_cast<const std::byte*>(values.data()),
            static_cast<std::uint32_t>(values.size()), false};
  }
  std::uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T operator[](std::uint32_t i) const {
    T value;
    std::memcpy(&value, data_ + std::size_t{i} * sizeof(T), sizeof(T));
    return swap_ ? byte_swapped(value) : value;
  }
  const std::byte* data() const { return data_; }
  bool swapped() const { return swap_; }

 private:
  const std::byte* data_ = nullptr;
  std::uint32_t count_ = 0;
  bool swap_ = false;
};
using ByteArray = PackedArray<std::uint8_t>;
using U4Array = PackedArray<std::uint32_t>;
// A set of world ranks, one bit each: rank i is byte i/8, bit i%8. Printed as bits.
struct BitArray : ByteArray {
  constexpr BitArray() = default;
  constexpr BitArray(const ByteArray& bytes) : ByteArray(bytes) {}  // NOLINT: the same bytes
};
using MetricValues = PackedArray<std::uint64_t>;
using Text = std::string_view;  // the rest of the body, without the final NUL

}  // namespace kojak

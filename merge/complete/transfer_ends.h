// The end of a transfer as a local trace holds it: in a whole-call record, or in a record of its
// own with its byte count perhaps in an attribute before it. Shared by the first reading of an
// operation and by the reading again of held ends.
//
// Nothing here owns memory or fails: a record that is too short gives nothing.
#pragma once

#include <cstdint>

#include "epilog/format/field_values.h"
#include "epilog/format/record/codec.h"

namespace kojak::merge {

inline constexpr std::uint64_t kNoBytes = ~std::uint64_t{0};

constexpr std::uint8_t type_of(RecordType type) {
  return static_cast<std::uint8_t>(type);
}

// One end, still in the terms of its local trace.
struct LocalEnd {
  double time = 0;
  std::uint64_t bytes = kNoBytes;
  std::uint32_t peer = 0;
  std::uint32_t window = 0;
  std::uint32_t rmaid = 0;
};

// The byte count that an attribute of this kind gives, if it is one.
inline bool byte_attribute(const RawRecord& record, const Dialect& dialect, Byte kind,
                           std::uint64_t& bytes) {
  AttrUi8 attribute;
  if (record.type != type_of(RecordType::kAttrUi8) ||
      decode(record, dialect, attribute) != nullptr || attribute.kind != kind) {
    return false;
  }
  bytes = raw(attribute.value);
  return true;
}

// The one that the attributes before the event of a Stream give, or kNoBytes.
template <class Stream>
std::uint64_t noted_bytes(const Stream& s, Byte kind) {
  std::uint64_t bytes = kNoBytes;
  for (const std::byte* p = s.attributes; p != nullptr && p < s.record;
       p += std::size_t{2} + static_cast<std::uint8_t>(p[0])) {
    byte_attribute({static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]), p + 2, 0},
                   s.dialect, kind, bytes);
  }
  return bytes;
}

// The end that an MPI_RMA_CALL or SHMEM_RMA_CALL tells of; false if it tells of none.
template <class RmaCall>
bool end_from_call(const RmaCall& call, bool put, LocalEnd& end) {
  const std::uint8_t kind = raw(call.kind);
  if ((kind & (put ? kCallPut : kCallGet)) == 0) return false;
  const bool both = kind == (kCallPut | kCallGet);
  end.time = call.exit.value;
  end.bytes = raw(both && !put ? call.got : call.bytes);
  end.peer = raw(call.dlid);
  if constexpr (requires { call.wid; }) end.window = raw(call.wid);
  end.rmaid = raw(call.rmaid) + (both && put ? 1 : 0);
  return true;
}

namespace detail {
template <class End>
bool read_end(const RawRecord& record, const Dialect& dialect, std::uint64_t attribute,
              LocalEnd& end) {
  End r;
  if (record.type != type_of(End::kType) || decode(record, dialect, r) != nullptr) return false;
  end.time = r.time.value;
  end.bytes = is_absent(r.recvd) ? attribute : std::uint64_t{raw(r.recvd)};
  if constexpr (requires { r.dlid; }) {
    end.peer = raw(r.dlid);
  } else {
    end.peer = raw(r.slid);
  }
  if constexpr (requires { r.wid; }) end.window = raw(r.wid);
  end.rmaid = raw(r.rmaid);
  return true;
}
}  // namespace detail

// From MPI_PUT_1TE_REMOTE (put) or MPI_GET_1TE; `attribute` is the count that stood before it.
inline bool end_from_record(const RawRecord& record, const Dialect& dialect, bool put,
                            std::uint64_t attribute, LocalEnd& end) {
  return put ? detail::read_end<MpiPut1teRemote>(record, dialect, attribute, end)
             : detail::read_end<MpiGet1te>(record, dialect, attribute, end);
}
// Reads an end of SHMEM's: PUT_1TE_REMOTE or GET_1TE.
inline bool windowless_end(const RawRecord& record, const Dialect& dialect, bool put,
                           std::uint64_t attribute, LocalEnd& end) {
  return put ? detail::read_end<Put1teRemote>(record, dialect, attribute, end)
             : detail::read_end<Get1te>(record, dialect, attribute, end);
}

}  // namespace kojak::merge

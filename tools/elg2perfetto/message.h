// Writes messages in Protocol Buffers' wire format: fields of a message one after the other.
//
// The few messages of Perfetto that are needed here are written field by field (their numbers stand
// in packets.cc); code generated from their definitions took twice the time. Owns its bytes; not
// thread-safe; nothing fails. Source: protobuf.dev, "Encoding".
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kojak::perfetto {

class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& fixed64(std::uint32_t field, std::uint64_t value) {
    static_assert(std::endian::native == std::endian::little);
    varint(field << 3 | 1);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof bytes);
    return *this;
  }
  Message& real(std::uint32_t field, double value) {
    return fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  Message& text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(std::uint32_t field, const Message& inner) { return text(field, inner.bytes_); }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace kojak::perfetto

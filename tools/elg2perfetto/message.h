// Writes messages in Protocol Buffers' wire format: fields of a message one
// after the other.
//
// The few messages of Perfetto that are needed here are written field by field
// (their numbers stand in packets.cc); code generated from their definitions
// took twice the time. Owns its bytes. Source:
// protobuf.dev, "Encoding".
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
    char* const at = varint(room(2 * kMostOfVarint), field << 3);
    return used(varint(at, value));
  }
  Message& fixed64(std::uint32_t field, std::uint64_t value) {
    static_assert(std::endian::native == std::endian::little);
    char* const at = varint(room(kMostOfVarint + sizeof value), field << 3 | 1);
    std::memcpy(at, &value, sizeof value);
    return used(at + sizeof value);
  }
  Message& text(std::uint32_t field, std::string_view value) {
    char* at = varint(room(2 * kMostOfVarint + value.size()), field << 3 | 2);
    at = varint(at, value.size());
    if (!value.empty()) std::memcpy(at, value.data(), value.size());
    return used(at + value.size());
  }
  Message& message(std::uint32_t field, const Message& inner) { return text(field, inner.bytes()); }
  std::string_view bytes() const { return std::string_view(data_).substr(0, size_); }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kMostOfVarint = 10;
  // Where the next bytes go: one look at the room for a whole field.
  char* room(std::size_t bytes) {
    if (data_.size() - size_ < bytes) [[unlikely]]
      data_.resize(2 * (size_ + bytes));
    return data_.data() + size_;
  }
  Message& used(const char* end) {
    size_ = static_cast<std::size_t>(end - data_.data());
    return *this;
  }
  static char* varint(char* at, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
    *at++ = static_cast<char>(value);
    return at;
  }
  std::string data_;  // the first size_ bytes count
  std::size_t size_ = 0;
};

}  // namespace kojak::perfetto

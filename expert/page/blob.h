// Columns of numbers as the page embeds them: encoded, compressed, and in base64.
//
// A page of millions of values must stay small and open at once, so numbers are not written as
// text: each column goes into one byte stream in the encoding that compresses it best, and a
// directory in JSON tells the page where it stands. expert/page/web/src/blob.ts is the reader.
// Little endian. What is compressed depends on the columns only; large streams are compressed by
// several threads. Not thread-safe; out of memory is the only failure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "expert/output/json.h"

namespace kojak::html {

class Blob {
 public:
  Blob() { directory_.begin_object(); }

  // As they are.
  void bytes(std::string_view name, std::span<const std::uint8_t> values);
  // By planes: all lowest bytes first, then all second ones ...; equal exponents then stand
  // together.
  void planes(std::string_view name, std::span<const std::uint16_t> values);
  void planes(std::string_view name, std::span<const std::uint32_t> values);
  void planes(std::string_view name, std::span<const double> values);
  // 7 bits a byte, small numbers in few bytes. At most 2^53 each.
  void varints(std::string_view name, std::span<const std::uint64_t> values) {
    fill_varints(name, [&](auto&& put) {
      for (const std::uint64_t value : values) put(value);
    });
  }
  // The same, as `fill` puts them one after the other: fill(put), put(value).
  template <class Fill>
  void fill_varints(std::string_view name, Fill&& fill) {
    fill_column(name, "varint", fill, [this](std::uint64_t value) { varint(value); });
  }
  // The same for the distances between neighbours, which may be negative.
  void deltas(std::string_view name, std::span<const std::uint64_t> values) {
    fill_deltas(name, [&](auto&& put) {
      for (const std::uint64_t value : values) put(value);
    });
  }
  template <class Fill>
  void fill_deltas(std::string_view name, Fill&& fill) {
    std::uint64_t last = 0;
    fill_column(name, "delta", fill, [&](std::uint64_t value) {
      const auto step = static_cast<std::int64_t>(value - last);
      varint(static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63));
      last = value;
    });
  }

  // The directory, for the page's JSON. After it no column may be added.
  std::string directory();
  // Bytes before compression.
  std::size_t size() const { return data_.size(); }
  std::string compressed() const;

 private:
  void enter(std::string_view name, std::string_view encoding, std::size_t begin,
             std::size_t count);
  template <class Fill, class Write>
  void fill_column(std::string_view name, std::string_view encoding, Fill& fill, Write&& write) {
    const std::size_t begin = data_.size();
    std::size_t count = 0;
    fill([&](std::uint64_t value) {
      write(value);
      ++count;
    });
    enter(name, encoding, begin, count);
  }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      data_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    data_ += static_cast<char>(value);
  }
  Json directory_;
  std::string data_;
};

std::string base64(std::string_view bytes);

}  // namespace kojak::html

// Columns of numbers as the page embeds them: encoded, compressed, and in base64.
//
// A page of millions of values must stay small and open at once, so numbers are not written as
// text: each column goes into one byte stream in the encoding that compresses it best, and a
// directory in JSON tells the page where it stands. expert/html/web/src/blob.ts is the reader.
// Little endian. Not thread-safe; out of memory is the only failure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "expert/html/json.h"

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
  void varints(std::string_view name, std::span<const std::uint64_t> values);
  // The same for the distances between neighbours, which may be negative.
  void deltas(std::string_view name, std::span<const std::uint64_t> values);

  // The directory, for the page's JSON. After it no column may be added.
  std::string directory();
  // Bytes before compression.
  std::size_t size() const { return data_.size(); }
  std::string compressed() const;

 private:
  void enter(std::string_view name, std::string_view encoding, std::size_t count);
  void varint(std::uint64_t value);
  Json directory_;
  std::string data_;
};

std::string base64(std::string_view bytes);

}  // namespace kojak::html

#include "expert/html/blob.h"

#include <zlib.h>

#include <cstring>
#include <new>

namespace kojak::html {
namespace {

template <class T>
void append_planes(std::string& data, std::span<const T> values) {
  const std::size_t at = data.size();
  data.resize(at + values.size_bytes());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &values[i], sizeof(T));
    for (std::size_t plane = 0; plane < sizeof(T); ++plane) {
      data[at + plane * values.size() + i] = static_cast<char>(bits >> (8 * plane));
    }
  }
}

}  // namespace

void Blob::enter(std::string_view name, std::string_view encoding, std::size_t count) {
  directory_.key(name).begin_array().value(encoding).value(data_.size()).value(count).end_array();
}

void Blob::bytes(std::string_view name, std::span<const std::uint8_t> values) {
  enter(name, "u8", values.size());
  data_.append(values.begin(), values.end());
}

void Blob::planes(std::string_view name, std::span<const std::uint16_t> values) {
  enter(name, "u16", values.size());
  append_planes(data_, values);
}

void Blob::planes(std::string_view name, std::span<const std::uint32_t> values) {
  enter(name, "u32", values.size());
  append_planes(data_, values);
}

void Blob::planes(std::string_view name, std::span<const double> values) {
  enter(name, "f64", values.size());
  append_planes(data_, values);
}

void Blob::varint(std::uint64_t value) {
  while (value >= 0x80) {
    data_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  data_ += static_cast<char>(value);
}

void Blob::varints(std::string_view name, std::span<const std::uint64_t> values) {
  enter(name, "varint", values.size());
  for (const std::uint64_t value : values) varint(value);
}

void Blob::deltas(std::string_view name, std::span<const std::uint64_t> values) {
  enter(name, "delta", values.size());
  std::uint64_t last = 0;
  for (const std::uint64_t value : values) {
    const auto step = static_cast<std::int64_t>(value - last);
    varint(static_cast<std::uint64_t>(step) << 1 ^ static_cast<std::uint64_t>(step >> 63));
    last = value;
  }
}

std::string Blob::directory() {
  directory_.end_object();
  return directory_.text();
}

std::string Blob::compressed() const {
  z_stream stream{};
  // 16 on top of the window's bits: with gzip's header, which browsers ask for.
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, data_.size()), '\0');
  // zlib counts in unsigned int: larger streams go in pieces.
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  std::size_t taken = 0;
  std::size_t made = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const std::size_t in = std::min(kPiece, data_.size() - taken);
    const std::size_t room = std::min(kPiece, out.size() - made);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data_.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    status = deflate(&stream, taken + in == data_.size() ? Z_FINISH : Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += room - stream.avail_out;
  }
  deflateEnd(&stream);
  out.resize(made);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

}  // namespace kojak::html

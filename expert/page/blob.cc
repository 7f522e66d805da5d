#include "expert/page/blob.h"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

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

// What one thread compresses at a time.
constexpr std::size_t kPiece = 512 * 1024;

// A piece of the data as raw deflate, with what stands before it as its dictionary; all but the
// last end at a whole byte, so that they can be put together. False: no memory.
bool deflate_piece(std::string_view data, std::size_t number, bool last, std::string& out) {
  constexpr std::size_t kWindow = 32 * 1024;
  const std::size_t begin = number * kPiece;
  const std::string_view piece = data.substr(begin, kPiece);
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  };
  if (begin > 0) {
    const std::string_view before = data.substr(begin - kWindow, kWindow);
    deflateSetDictionary(&stream, bytes(before), static_cast<uInt>(before.size()));
  }
  try {
    out.resize(deflateBound(&stream, piece.size()) + 16);
  } catch (const std::bad_alloc&) {
    deflateEnd(&stream);
    return false;
  }
  stream.next_in = bytes(piece);
  stream.avail_in = static_cast<uInt>(piece.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, last ? Z_FINISH : Z_SYNC_FLUSH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return status == (last ? Z_STREAM_END : Z_OK);
}

}  // namespace

void Blob::enter(std::string_view name, std::string_view encoding, std::size_t begin,
                 std::size_t count) {
  directory_.key(name).begin_array().value(encoding).value(begin).value(count).end_array();
}

void Blob::bytes(std::string_view name, std::span<const std::uint8_t> values) {
  enter(name, "u8", data_.size(), values.size());
  data_.append(values.begin(), values.end());
}

void Blob::planes(std::string_view name, std::span<const std::uint16_t> values) {
  enter(name, "u16", data_.size(), values.size());
  append_planes(data_, values);
}

void Blob::planes(std::string_view name, std::span<const std::uint32_t> values) {
  enter(name, "u32", data_.size(), values.size());
  append_planes(data_, values);
}

void Blob::planes(std::string_view name, std::span<const double> values) {
  enter(name, "f64", data_.size(), values.size());
  append_planes(data_, values);
}

std::string Blob::directory() {
  directory_.end_object();
  return directory_.text();
}

std::string Blob::compressed() const {
  const std::size_t pieces = std::max<std::size_t>((data_.size() + kPiece - 1) / kPiece, 1);
  std::vector<std::string> packed(pieces);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < pieces;) {
      if (!deflate_piece(data_, i, i + 1 == pieces, packed[i])) failed = true;
    }
  };
  {
    // Work goes on without a thread that could not be started.
    const std::size_t most =
        std::min<std::size_t>({pieces, std::thread::hardware_concurrency(), 8});
    std::vector<std::jthread> threads;
    try {
      while (threads.size() + 1 < most) threads.emplace_back(work);
    } catch (const std::system_error&) {
    }
    work();
  }
  if (failed) throw std::bad_alloc();
  // gzip's header, which browsers ask for: deflate, no name, no time, any system.
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::size_t size = out.size() + 8;
  for (const std::string& piece : packed) size += piece.size();
  out.reserve(size);
  for (std::string& piece : packed) {
    out += piece;
    piece = {};
  }
  const auto append = [&](std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
  };
  append(static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(data_.data()), data_.size())));
  append(static_cast<std::uint32_t>(data_.size()));
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data();
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k, ++to) {
      if (i + k <= bytes.size()) *to = kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

}  // namespace kojak::html

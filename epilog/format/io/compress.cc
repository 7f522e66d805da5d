#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "epilog/format/io/compression.h"

namespace kojak {
namespace {

Error no_memory(const OutputFile& file) {
  return {ExitCode::kOutputFailed, file.path(), std::nullopt, "", "", "no memory to compress with",
          "write it uncompressed"};
}

class GzipCompressor final : public Compressor {
 public:
  // No time in the header: the same bytes give the same file.
  GzipCompressor() {
    good_ = deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipCompressor() override {
    if (good_) deflateEnd(&stream_);
  }
  GzipCompressor(const GzipCompressor&) = delete;
  GzipCompressor& operator=(const GzipCompressor&) = delete;

  Status write(OutputFile& file, const std::byte* data, std::size_t size) override {
    return pass(file, data, size, Z_NO_FLUSH);
  }
  Status finish(OutputFile& file) override { return pass(file, nullptr, 0, Z_FINISH); }

 private:
  // zlib takes at most 4 GB at a time.
  Status pass(OutputFile& file, const std::byte* data, std::size_t size, int flush) {
    if (!good_) return no_memory(file);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(data));
    do {
      stream_.avail_in =
          static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
      size -= stream_.avail_in;
      int code;
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
        stream_.avail_out = static_cast<uInt>(out_.size());
        code = deflate(&stream_, flush);
        const Status written = file.write(out_.data(), out_.size() - stream_.avail_out);
        if (!written) return written;
      } while (stream_.avail_out == 0 || (flush == Z_FINISH && code == Z_OK));
    } while (size != 0);
    return {};
  }
  z_stream stream_{};
  bool good_;
  std::array<std::byte, kCompressedPiece> out_;
};

class ZstdCompressor final : public Compressor {
 public:
  ZstdCompressor() : stream_(ZSTD_createCCtx()) {
    if (stream_ != nullptr) ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_checksumFlag, 1);
  }
  Status write(OutputFile& file, const std::byte* data, std::size_t size) override {
    return pass(file, data, size, ZSTD_e_continue);
  }
  Status finish(OutputFile& file) override { return pass(file, nullptr, 0, ZSTD_e_end); }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* stream) const { ZSTD_freeCCtx(stream); }
  };
  Status pass(OutputFile& file, const std::byte* data, std::size_t size, ZSTD_EndDirective what) {
    if (stream_ == nullptr) return no_memory(file);
    ZSTD_inBuffer in{data, size, 0};
    for (;;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_.get(), &out, &in, what);
      if (ZSTD_isError(left) != 0) return no_memory(file);
      if (Status written = file.write(out_.data(), out.pos); !written) return written;
      if (what == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }
  std::unique_ptr<ZSTD_CCtx, Free> stream_;
  std::array<std::byte, kCompressedPiece> out_;
};

}  // namespace

std::unique_ptr<Compressor> make_compressor(Compression how) {
  if (how == Compression::kGzip) return std::make_unique<GzipCompressor>();
  if (how == Compression::kZstd) return std::make_unique<ZstdCompressor>();
  return nullptr;
}

}  // namespace kojak

#include "expert/cube/output.h"

#include <limits>

namespace kojak::expert {
namespace {

constexpr std::size_t kChunk = 256 * 1024;
constexpr int kLevel = 6;
constexpr int kGzipWindow = 15 + 16;  // 16: a gzip header
constexpr int kMemory = 8;

}  // namespace

Result<ReportOutput> ReportOutput::create(const std::string& path) {
  auto file = OutputFile::create(path);
  if (!file) return file.error();
  ReportOutput output(std::move(*file));
  if (path.ends_with(".gz")) {
    auto stream = std::make_unique<z_stream>();
    if (deflateInit2(stream.get(), kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      return Error{.code = ExitCode::kOutputFailed,
                   .file = path,
                   .offset = {},
                   .record = {},
                   .field = {},
                   .reason = "there is no memory to compress it",
                   .remedy = "free memory, or give a name without .gz"};
    }
    output.stream_.reset(stream.release());
    output.compressed_.resize(kChunk);
  }
  return output;
}

// Takes all input of the stream.
void ReportOutput::compress(int flush) {
  int result = Z_OK;
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(compressed_.data());
    stream_->avail_out = static_cast<uInt>(compressed_.size());
    result = deflate(stream_.get(), flush);
    const std::size_t size = compressed_.size() - stream_->avail_out;
    if (status_ && size > 0) status_ = file_.write(compressed_.data(), size);
  } while (stream_->avail_out == 0 || (flush == Z_FINISH && result == Z_OK));
}

Status ReportOutput::write(const char* data, std::size_t size) {
  if (!status_) return status_;
  if (stream_ == nullptr) return status_ = file_.write(data, size);
  while (size > 0 && status_) {
    const auto part =
        static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));  // zlib: not written to
    stream_->avail_in = part;
    compress(Z_NO_FLUSH);
    data += part;
    size -= part;
  }
  return status_;
}

Status ReportOutput::commit() {
  if (stream_ != nullptr && status_) {
    stream_->next_in = nullptr;
    stream_->avail_in = 0;
    compress(Z_FINISH);
  }
  if (!status_) return status_;
  return file_.commit();
}

}  // namespace kojak::expert

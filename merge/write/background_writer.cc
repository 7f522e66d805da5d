#include "merge/write/background_writer.h"

namespace kojak::merge {

BackgroundWriter::BackgroundWriter(RecordOutput& output, Helpers& helpers)
    : output_(output),
      helpers_(helpers),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(TraceWriter::kBuffer)) {}

BackgroundWriter::~BackgroundWriter() {
  helpers_.drop(*this);
}

std::unique_ptr<std::byte[]> BackgroundWriter::exchange(std::unique_ptr<std::byte[]> full,
                                                        std::size_t used) {
  if (Status status = drain(); !status) return full;
  std::swap(buffer_, full);
  used_ = used;
  helpers_.post(*this);
  return full;
}

Status BackgroundWriter::drain() {
  helpers_.finish(*this);
  return error_.reason.empty() ? Status() : Status(error_);
}

void BackgroundWriter::run() {
  if (Status status = output_.write(buffer_.get(), used_); !status) error_ = status.error();
}

}  // namespace kojak::merge

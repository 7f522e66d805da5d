#include "epilog/format/io/writer.h"

#include <cstring>

#include "epilog/format/record/continuation.h"

namespace kojak {

TraceWriter::TraceWriter(OutputFile file, const Dialect& dialect, Compression compression)
    : output_(std::move(file), dialect, compression),
      dialect_(dialect),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBuffer)) {}

Result<TraceWriter> TraceWriter::create(const std::string& path, const Dialect& dialect,
                                        Compression compression) {
  auto file = OutputFile::create(path);
  if (!file) return file.error();
  TraceWriter writer(std::move(*file), dialect, compression);
  encode_header(compact::of_records(dialect), writer.buffer_.get());
  writer.used_ = kHeaderSize;
  return writer;
}

void TraceWriter::flush() {
  if (sink_ != nullptr) {
    if (used_ != 0) buffer_ = sink_->exchange(std::move(buffer_), used_);
  } else if (error_.reason.empty()) {
    if (Status status = output_.write(buffer_.get(), used_); !status) error_ = status.error();
  }
  flushed_ += used_;
  used_ = 0;
}

void TraceWriter::drain() {
  flush();
  if (sink_ == nullptr) return;
  if (Status status = sink_->drain(); !status && error_.reason.empty()) error_ = status.error();
}

Status TraceWriter::overwrite(std::uint64_t offset, const void* data, std::size_t size) {
  if (!error_.reason.empty()) return error_;
  if (offset >= flushed_) {  // records never lie on both sides of this
    std::memcpy(buffer_.get() + (offset - flushed_), data, size);
    return {};
  }
  if (sink_ != nullptr) drain();
  if (Status status = output_.overwrite(offset, data, size); !status) error_ = status.error();
  return this->status();
}

Status TraceWriter::commit() {
  drain();
  if (!error_.reason.empty()) return error_;
  return output_.commit();
}

void TraceWriter::write_string(StringId id, std::string_view text) {
  emit_string(id, text, [this](const auto& record) { write(record); });
}

void TraceWriter::write_group(GroupId id, std::uint8_t mode, const std::uint32_t* ranks,
                              std::size_t count) {
  emit_group(id, mode, ranks, count, [this](const auto& record) { write(record); });
}

void TraceWriter::write_comm_bits(CommId id, std::uint8_t uag, const std::uint8_t* bits,
                                  std::size_t bytes) {
  emit_comm_bits(id, uag, bits, bytes, [this](const auto& record) { write(record); });
}

}  // namespace kojak

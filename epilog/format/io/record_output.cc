#include "epilog/format/io/record_output.h"

#include <algorithm>
#include <cstring>

#include "epilog/format/compact/pack.h"

namespace kojak {

RecordOutput::RecordOutput(OutputFile file, const Dialect& dialect, Compression compression)
    : file_(std::move(file)), compressor_(make_compressor(compression)), dialect_(dialect) {
  if (!dialect.compact()) return;
  packer_ = std::make_unique<compact::Packer>(dialect_.swapped());
  packed_ = std::make_unique_for_overwrite<std::byte[]>(kPacked + compact::kMaxBlock);
}

RecordOutput::RecordOutput(RecordOutput&&) noexcept = default;
RecordOutput::~RecordOutput() = default;

Status RecordOutput::write(const std::byte* data, std::size_t size) {
  return packer_ != nullptr ? pack(data, size) : put(data, size);
}

Status RecordOutput::put(const std::byte* data, std::size_t size) {
  return compressor_ != nullptr ? compressor_->write(file_, data, size) : file_.write(data, size);
}

Status RecordOutput::commit() {
  if (compressor_ != nullptr) {
    if (Status status = compressor_->finish(file_); !status) return status;
  }
  return file_.commit();
}

Status RecordOutput::flush(std::byte* end) {
  const auto size = static_cast<std::size_t>(end - packed_.get());
  written_ += size;
  return put(packed_.get(), size);
}

Status RecordOutput::pack(const std::byte* data, std::size_t size) {
  const std::byte* const end = data + size;
  std::byte* to = packed_.get();
  if (records_ == 0) {
    encode_header(dialect_, to);
    to += kHeaderSize;
    data += kHeaderSize;
    records_ = kHeaderSize;
  }
  while (data != end) {
    const std::byte* const from = data;
    if (compact::Packer::alone(std::to_integer<std::uint8_t>(data[1]))) {
      counts_.emplace_back(records_, written_ + static_cast<std::uint64_t>(to - packed_.get()));
    }
    to = packer_->block(data, end, to);
    records_ += static_cast<std::uint64_t>(data - from);
    if (static_cast<std::size_t>(to - packed_.get()) >= kPacked) {
      if (Status status = flush(to); !status) return status;
      to = packed_.get();
    }
  }
  return flush(to);
}

Status RecordOutput::overwrite(std::uint64_t offset, const void* data, std::size_t size) {
  if (packer_ == nullptr) return file_.overwrite(offset, data, size);
  const auto place = std::find_if(counts_.begin(), counts_.end(),
                                  [offset](const auto& count) { return count.first == offset; });
  if (place == counts_.end()) {
    return Error{ExitCode::kOutputFailed,
                 file_.path(),
                 std::nullopt,
                 "",
                 "",
                 "compact records cannot be replaced",
                 ""};
  }
  // Its block is written anew, with its checksum.
  std::byte block[compact::kCheckedHead + compact::kMaxItem];
  const auto* from = static_cast<const std::byte*>(data);
  const std::byte* const to = compact::Packer(dialect_.swapped()).block(from, from + size, block);
  return file_.overwrite(place->second, block, static_cast<std::size_t>(to - block));
}

}  // namespace kojak

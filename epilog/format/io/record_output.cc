#include "epilog/format/io/record_output.h"

#include <algorithm>

namespace kojak {

RecordOutput::RecordOutput(OutputFile file, const Dialect& dialect)
    : file_(std::move(file)), compact_(dialect.compact()), packer_(dialect.swapped()) {
  if (compact_) packed_ = std::make_unique_for_overwrite<std::byte[]>(kPacked + compact::kMaxItem);
}

Status RecordOutput::write(const std::byte* data, std::size_t size) {
  return compact_ ? pack(data, size) : file_.write(data, size);
}

Status RecordOutput::flush(std::byte* end) {
  const auto size = static_cast<std::size_t>(end - packed_.get());
  written_ += size;
  return file_.write(packed_.get(), size);
}

Status RecordOutput::pack(const std::byte* data, std::size_t size) {
  const std::byte* const end = data + size;
  std::byte* to = packed_.get();
  if (records_ == 0) {
    std::memcpy(to, data, kHeaderSize);
    to[7] = std::byte{compact::kMajor};
    to += kHeaderSize;
    data += kHeaderSize;
    records_ = kHeaderSize;
  }
  while (data != end) {
    if (in_block_ >= compact::kBlockRecords) {
      to = packer_.begin_block(to);
      in_block_ = 0;
    }
    const auto length = std::to_integer<std::size_t>(data[0]);
    const auto type = std::to_integer<std::uint8_t>(data[1]);
    if (type == static_cast<std::uint8_t>(RecordType::kNumEvents) ||
        type == static_cast<std::uint8_t>(RecordType::kEventCount64)) {
      counts_.emplace_back(records_, written_ + static_cast<std::uint64_t>(to - packed_.get()));
    }
    to = packer_.add(type, data + 2, length, to);
    data += 2 + length;
    records_ += 2 + length;
    in_block_ += 2 + length;
    // A block's head and an item fit behind kPacked.
    if (static_cast<std::size_t>(to - packed_.get()) + compact::kMaxBlockHead >= kPacked) {
      if (Status status = flush(to); !status) return status;
      to = packed_.get();
    }
  }
  return flush(to);
}

Status RecordOutput::overwrite(std::uint64_t offset, const void* data, std::size_t size) {
  if (!compact_) return file_.overwrite(offset, data, size);
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
  return file_.overwrite(place->second + 1, data, size);  // behind the code of a whole record
}

}  // namespace kojak

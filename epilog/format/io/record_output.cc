#include "epilog/format/io/record_output.h"

#include <algorithm>
#include <cstring>

#include "epilog/format/compact/pack.h"

namespace kojak {
namespace {

constexpr std::size_t kPacked = 128 * 1024;  // at first

}  // namespace

RecordOutput::RecordOutput(OutputFile file, const Dialect& dialect, Compression compression)
    : file_(std::move(file)), compressor_(make_compressor(compression)), dialect_(dialect) {}

RecordOutput::RecordOutput(RecordOutput&&) noexcept = default;
RecordOutput::~RecordOutput() = default;

Status RecordOutput::write(const std::byte* data, std::size_t size) {
  pack(data, size, records_ == 0, packed_);
  return put(packed_);
}

void RecordOutput::pack(const std::byte* data, std::size_t size, bool first, Packed& to) const {
  to.records = data;
  to.size = size;
  to.used = 0;
  to.counts.clear();
  if (!dialect_.compact()) return;
  const std::byte* const begin = data;
  const std::byte* const end = data + size;
  const auto make_room = [&to] {
    if (to.capacity - to.used >= compact::kMaxBlock) return;
    const std::size_t larger = std::max(kPacked, 2 * to.capacity);
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(larger);
    if (to.used != 0) std::memcpy(bytes.get(), to.bytes.get(), to.used);
    to.bytes = std::move(bytes);
    to.capacity = larger;
  };
  make_room();
  if (first) {
    encode_header(dialect_, to.bytes.get());
    to.used = kHeaderSize;
    data += kHeaderSize;
  }
  compact::Packer packer(dialect_.swapped());
  while (data != end) {
    make_room();
    if (compact::Packer::alone(std::to_integer<std::uint8_t>(data[1]))) {
      to.counts.emplace_back(data - begin, to.used);
    }
    std::byte* const from = to.bytes.get() + to.used;
    to.used += static_cast<std::size_t>(packer.block(data, end, from) - from);
  }
}

Status RecordOutput::put(const Packed& packed) {
  for (const auto& [record, block] : packed.counts) {
    counts_.emplace_back(records_ + record, written_ + block);
  }
  records_ += packed.size;
  if (!dialect_.compact()) return put(packed.records, packed.size);
  written_ += packed.used;
  return put(packed.bytes.get(), packed.used);
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

Status RecordOutput::overwrite(std::uint64_t offset, const void* data, std::size_t size) {
  if (!dialect_.compact()) return file_.overwrite(offset, data, size);
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

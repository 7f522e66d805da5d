// An index kept in a file: a head, the arrays one after the other, all in this machine's byte
// order. The head tells the version of the layout, the trace it belongs to, the size of each array
// and a checksum of everything; a file that differs in any of them is not used.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "earl/access/event_index.h"
#include "epilog/format/io/output_file.h"
#include "epilog/format/io/regular_file.h"

namespace kojak::earl {
namespace {

constexpr std::uint64_t kMagic = 0x3231584449524145;  // "EARIDX12"
constexpr std::size_t kArrays = 8;

struct Head {
  std::uint64_t magic = kMagic;
  std::uint64_t trace_size = 0, trace_changed = 0;
  std::array<std::uint64_t, kArrays> sizes{};  // bytes
  std::uint64_t checksum = 0;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class Checksum {
 public:
  void add(const void* data, std::size_t size) {
    const auto* p = static_cast<const unsigned char*>(data);
    for (; size >= 8; p += 8, size -= 8) {
      std::uint64_t word;
      std::memcpy(&word, p, 8);
      value_ = detail::mix(value_, word);
    }
    for (; size > 0; ++p, --size) value_ = detail::mix(value_, *p);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = kMagic;
};

template <class T>
bool read_array(std::FILE* file, std::uint64_t bytes, std::vector<T>& to, Checksum& sum) {
  if (bytes % sizeof(T) != 0) return false;
  to.resize(bytes / sizeof(T));
  if (bytes != 0 && std::fread(static_cast<void*>(to.data()), 1, bytes, file) != bytes)
    return false;
  sum.add(to.data(), bytes);
  return true;
}

}  // namespace

Status EventIndex::save(const std::string& path, const MappedFile& file,
                        const RecordBlocks& records) const {
  // Damage is found again when the trace is read; its place is all that must be kept.
  std::vector<std::byte> damage;
  if (damage_) {
    const std::string text = damage_->reason + '\n' + std::to_string(damage_->offset.value_or(0));
    const auto* p = reinterpret_cast<const std::byte*>(text.data());
    damage.assign(p, p + text.size());
  }
  std::vector<std::byte> columns;
  StateColumns::each(columns_, [&](const auto& column) { column.save(columns); });
  const std::array<std::pair<const void*, std::size_t>, kArrays> arrays{{
      {blocks_.data(), blocks_.size() * sizeof blocks_[0]},
      {enter_.data(), enter_.size() * sizeof enter_[0]},
      {link_.data(), link_.size() * sizeof link_[0]},
      {posted_.data(), posted_.size() * sizeof posted_[0]},
      {late_.data(), late_.size() * sizeof late_[0]},
      {columns.data(), columns.size()},
      {paths_.data(), paths_.size() * sizeof paths_[0]},
      {records.blocks().data(), records.blocks().size() * sizeof(RecordBlocks::Block)},
  }};
  Head head;
  head.trace_size = file.file_size();
  head.trace_changed = file.changed();
  Checksum sum;
  for (std::size_t i = 0; i < kArrays; ++i) {
    head.sizes[i] = arrays[i].second;
    sum.add(arrays[i].first, arrays[i].second);
  }
  sum.add(damage.data(), damage.size());
  head.checksum = sum.value();
  const auto failed = [](Error error) {
    error.reason = "the index cannot be kept: it " + error.reason;
    error.remedy = "make the trace's folder writable, or do without the cache";
    return error;
  };
  auto out = OutputFile::create(path);
  if (!out) return failed(out.error());
  Status good = out->write(&head, sizeof head);
  for (const auto& [data, size] : arrays) {
    if (good) good = out->write(data, size);
  }
  if (good) good = out->write(damage.data(), damage.size());
  if (good) good = out->commit();
  if (!good) return failed(good.error());
  return {};
}

std::optional<EventIndex> EventIndex::load(const std::string& path, const MappedFile& file,
                                           const Trace& trace, RecordBlocks& records) {
  const int fd = open_regular_file(path.c_str());
  const File in(fd < 0 ? nullptr : ::fdopen(fd, "rb"));
  Head head;
  if (!in || std::fread(&head, sizeof head, 1, in.get()) != 1 || head.magic != kMagic ||
      head.trace_size != file.file_size() || head.trace_changed != file.changed()) {
    return std::nullopt;
  }
  if (std::fseek(in.get(), 0, SEEK_END) != 0) return std::nullopt;
  const long end = std::ftell(in.get());
  std::uint64_t left = end < 0 ? 0 : static_cast<std::uint64_t>(end) - sizeof head;
  for (const std::uint64_t size : head.sizes) {
    if (size > left) return std::nullopt;
    left -= size;
  }
  std::fseek(in.get(), sizeof head, SEEK_SET);
  EventIndex index(trace);
  Checksum sum;
  std::vector<std::byte> damage, columns;
  std::vector<RecordBlocks::Block> blocks;
  const bool good = read_array(in.get(), head.sizes[0], index.blocks_, sum) &&
                    read_array(in.get(), head.sizes[1], index.enter_, sum) &&
                    read_array(in.get(), head.sizes[2], index.link_, sum) &&
                    read_array(in.get(), head.sizes[3], index.posted_, sum) &&
                    read_array(in.get(), head.sizes[4], index.late_, sum) &&
                    read_array(in.get(), head.sizes[5], columns, sum) &&
                    read_array(in.get(), head.sizes[6], index.paths_, sum) &&
                    read_array(in.get(), head.sizes[7], blocks, sum) &&
                    read_array(in.get(), left, damage, sum);
  if (!good || sum.value() != head.checksum || index.link_.size() != index.enter_.size() ||
      index.blocks_.size() != (index.size() + kBlock - 1) / kBlock) {
    return std::nullopt;
  }
  std::span<const std::byte> left_of_columns = columns;
  bool whole = true;
  StateColumns::each(index.columns_,
                     [&](auto& column) { whole = whole && column.load(left_of_columns); });
  if (!whole || !left_of_columns.empty() || !records.know(std::move(blocks))) return std::nullopt;
  if (!damage.empty()) {
    const std::string text(reinterpret_cast<const char*>(damage.data()), damage.size());
    const std::size_t split = text.find('\n');
    index.damage_ = Error{ExitCode::kBadInput,
                          trace.path(),
                          std::strtoull(text.c_str() + split + 1, nullptr, 10),
                          "",
                          "",
                          text.substr(0, split),
                          "repeat the merge"};
  }
  index.rebuild_tree();
  return index;
}

}  // namespace kojak::earl

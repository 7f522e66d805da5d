#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "epilog/format/compact/pack.h"
#include "tests/support/compact_items.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace kojak::fuzz {
namespace {

constexpr char kMagic[] = "EPILOG";  // with its NUL
constexpr std::byte kCheckedBegins[] = {std::byte{compact::kBlock},
                                        std::byte{compact::kCheckedBlock}};

using Record = std::vector<std::byte>;
struct File {
  Record header;
  std::vector<Record> records;  // or compact items; the last one may be cut
  // What a compact file is changed as, and becomes: items, or the records that they stand for.
  enum class Form : std::uint8_t { kRecords, kItems, kPlain, kChecked } form = Form::kRecords;
};

File parse(const std::vector<std::byte>& bytes, unsigned choice) {
  File file;
  if (support::is_compact(bytes)) {
    if (choice % 2 == 0) {
      file.header.assign(bytes.begin(), bytes.begin() + kHeaderSize);
      file.records = support::items_of(bytes);
      file.form = File::Form::kItems;
      return file;
    }
    file = parse(support::unpacked(bytes), 0);
    const bool checked = std::search(bytes.begin(), bytes.end(), std::begin(kCheckedBegins),
                                     std::end(kCheckedBegins)) != bytes.end();
    file.form = checked ? File::Form::kChecked : File::Form::kPlain;
    return file;
  }
  std::size_t at = std::min(bytes.size(), kHeaderSize);
  file.header.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  while (at < bytes.size()) {
    const std::size_t end = std::min(bytes.size(), at + 2 + static_cast<std::size_t>(bytes[at]));
    file.records.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                              bytes.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
  return file;
}

class Mutation {
 public:
  Mutation(std::vector<File>& files, std::uint32_t seed) : files_(files), random_(seed) {}

  void change() {
    File& file = files_[number(files_.size())];
    if (file.records.empty()) return;
    std::vector<Record>& records = file.records;
    const std::size_t i = number(records.size());
    const auto at = records.begin() + static_cast<std::ptrdiff_t>(i);
    switch (number(8)) {
      case 0:  // a few records go
        records.erase(at, at + static_cast<std::ptrdiff_t>(
                                   std::min<std::size_t>(1 + number(3), records.size() - i)));
        break;
      case 1: {  // a record again, here or elsewhere
        const Record copy = *at;
        records.insert(records.begin() + static_cast<std::ptrdiff_t>(number(records.size() + 1)),
                       copy);
        break;
      }
      case 2:
        std::swap(*at, records[number(records.size())]);
        break;
      case 3: {  // a record of another file
        const File& other = files_[number(files_.size())];
        if (other.records.empty()) break;
        const Record copy = other.records[number(other.records.size())];
        records.insert(records.begin() + static_cast<std::ptrdiff_t>(i), copy);
        break;
      }
      case 4: {  // another type with the same body
        const Record& other = records[number(records.size())];
        const std::size_t type = file.form == File::Form::kItems ? 0 : 1;
        if (at->size() > type && other.size() > type) (*at)[type] = other[type];
        break;
      }
      default:
        if (file.form == File::Form::kItems) {
          value(*at);
        } else {
          field(*at, records[number(records.size())]);
        }
    }
  }

 private:
  std::size_t number(std::size_t below) { return below == 0 ? 0 : random_() % below; }

  // One field of the body gets another value: a special one, or that of another record.
  void field(Record& record, const Record& other) {
    if (record.size() < 3) return;
    const std::size_t body = record.size() - 2;
    const std::size_t at = 2 + (body > 4 && number(4) != 0 ? number(body / 4) * 4 : number(body));
    const std::size_t room = record.size() - at;
    static constexpr std::uint32_t kNumbers[] = {0, 1, 2, 3, 7, 64, 0x100, 0xFFFFFFFE, 0xFFFFFFFF};
    static constexpr double kTimes[] = {
        0, 1, -1, 1e-9, 1e9, 1e308, -1e308, HUGE_VAL, std::numeric_limits<double>::quiet_NaN()};
    std::byte value[8];
    std::size_t size = 4;
    switch (number(4)) {
      case 0: {
        const double time = kTimes[number(std::size(kTimes))];
        std::memcpy(value, &time, size = 8);
        break;
      }
      case 1:
        size = std::min<std::size_t>(8, other.size());
        std::memcpy(value, other.data() + (other.size() > 14 ? 6 : 0), size);
        break;
      case 2:
        size = 1;
        value[0] = static_cast<std::byte>(random_());
        break;
      default:
        std::memcpy(value, &kNumbers[number(std::size(kNumbers))], size);
    }
    std::memcpy(record.data() + at, value, std::min(size, room));
  }

  // A byte of an item goes, or a number comes in its place: as LEB128, so that some are out of
  // range.
  void value(Record& item) {
    if (item.empty()) return;
    const auto at = item.begin() + static_cast<std::ptrdiff_t>(number(item.size()));
    static constexpr std::uint64_t kNumbers[] = {
        0, 1, 2, 127, 128, 0x3FFF, 0xFFFFFFFE, 0xFFFFFFFF, 0x100000000, ~std::uint64_t{0}};
    switch (number(4)) {
      case 0:
        item.erase(at);
        break;
      case 1:
        *at = static_cast<std::byte>(random_());
        break;
      case 2:  // the fields that are there follow, or do not
        item.front() ^= std::byte{compact::kSameFields};
        break;
      default: {
        std::byte bytes[10];
        const std::byte* const end =
            compact::put_number(bytes, kNumbers[number(std::size(kNumbers))]);
        item.insert(item.erase(at), static_cast<const std::byte*>(bytes), end);
      }
    }
  }

  std::vector<File>& files_;
  std::minstd_rand random_;
};

std::vector<std::byte> bytes_of(const File& file) {
  std::vector<std::byte> bytes = file.header;
  for (const Record& record : file.records) {
    bytes.insert(bytes.end(), record.begin(), record.end());
  }
  if (file.form == File::Form::kPlain) return compact::pack(bytes, compact::Blocks::kPlain);
  if (file.form == File::Form::kChecked) return compact::pack(bytes);
  return bytes;
}

void repair_checksums(std::span<std::byte> bytes) {
  const auto files = split_files(bytes);
  std::size_t at = bytes.size();
  for (const auto& file : files) at -= file.size();
  for (const auto& file : files) {
    if (support::is_compact(file)) support::repair_blocks(bytes.subspan(at, file.size()));
    at += file.size();
  }
}

}  // namespace

std::vector<std::vector<std::byte>> split_files(std::span<const std::byte> bytes) {
  std::vector<std::vector<std::byte>> files;
  const auto* magic = reinterpret_cast<const std::byte*>(kMagic);
  auto at = std::search(bytes.begin(), bytes.end(), magic, magic + sizeof kMagic);
  while (at != bytes.end()) {
    const auto next = std::search(at + 1, bytes.end(), magic, magic + sizeof kMagic);
    files.emplace_back(at, next);
    at = next;
  }
  return files;
}

}  // namespace kojak::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  using namespace kojak::fuzz;
  auto* const bytes = reinterpret_cast<std::byte*>(data);
  const auto parts = split_files({bytes, size});
  if (seed % 4 == 0 || parts.empty()) {
    size = LLVMFuzzerMutate(data, size, max);
  } else {
    std::size_t before = size;
    std::vector<File> files;
    for (const auto& part : parts) {
      files.push_back(parse(part, seed / 16));
      before -= part.size();
    }
    Mutation mutation(files, seed);
    for (unsigned n = 0; n <= seed / 4 % 4; ++n) mutation.change();
    Record made(bytes, bytes + before);
    for (const File& file : files) {
      const Record part = bytes_of(file);
      made.insert(made.end(), part.begin(), part.end());
    }
    size = std::min(made.size(), max);
    std::memcpy(data, made.data(), size);
  }
  // Now and then they stay as they are, since what checksums find is to be reached, too.
  if (seed / 64 % 16 != 0) repair_checksums({bytes, size});
  return size;
}

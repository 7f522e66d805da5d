// Helpers that decode ahead hand over what one thread reads: the same records at the same offsets,
// the same damage at the same place.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "epilog/format/compact/pack.h"
#include "merge/input/local_input.h"
#include "tests/support/temp_dir.h"

namespace kojak::test {
namespace {

using Octets = std::vector<std::byte>;

template <class R>
void append(Octets& trace, const R& record) {
  std::byte bytes[kMaxRecord];
  const std::size_t size = encode(record, Dialect{}, bytes);
  trace.insert(trace.end(), bytes, bytes + size);
}

// Some events, with `attributes` before one in the middle.
Octets events(std::uint32_t count, std::uint32_t attributes) {
  Octets trace(kHeaderSize);
  encode_header(Dialect{}, trace.data());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == count / 2) {
      for (std::uint32_t a = 0; a < attributes; ++a) append(trace, AttrUi8{Byte{1}, Count64{a}});
    }
    append(trace, Enter{LocationId{0}, Seconds{i * 1e-3}, RegionId{i % 5}, {}});
  }
  return trace;
}

struct Read {
  Octets records;
  std::uint64_t end = 0;    // offset
  std::uint64_t place = 0;  // in the trace
  std::string damage, error;
};

// As the merge does: attributes are kept with their event.
Read read(const std::string& path, std::uint64_t size, merge::Helpers* helpers) {
  merge::FileCache files(1);
  merge::LocalTrace trace;
  trace.path = path;
  trace.parts = {{files.add(path), 0, size}};
  trace.size = size;
  trace.dialect.major = compact::kMajor;
  merge::LocalInput input(files, trace, {merge::LocalInput::kLeast, helpers});
  Read all;
  const std::byte* attributes = nullptr;
  for (;;) {
    if (input.available() < 1024 && !input.exhausted()) {
      if (attributes != nullptr) {
        attributes = input.fill(attributes);
      } else {
        input.fill();
      }
    }
    if (input.available() < 2) break;
    const std::byte* const p = input.position();
    const std::size_t record = 2 + std::to_integer<std::size_t>(p[0]);
    EXPECT_EQ(input.offset(), kHeaderSize + all.records.size() +
                                  static_cast<std::size_t>(attributes ? p - attributes : 0));
    input.skip(record);
    if (is_attribute(std::to_integer<std::uint8_t>(p[1]))) {
      if (attributes == nullptr) attributes = p;
      continue;
    }
    all.records.insert(all.records.end(), attributes != nullptr ? attributes : p, p + record);
    attributes = nullptr;
  }
  all.end = input.offset();
  all.place = input.place(all.end);
  if (input.damage() != nullptr) all.damage = input.damage();
  if (input.failed()) all.error = input.error().message();
  return all;
}

TEST(LocalInput, HelpersChangeNothing) {
  const TempDir dir;
  const std::string path = dir.file("0.0.elg");
  // 4000 attributes take 44,000 bytes: more than ten blocks.
  for (const std::uint32_t attributes : {0u, 1u, 300u, 4000u}) {
    const Octets trace = events(3000, attributes);
    const Octets packed = compact::pack(trace, compact::Blocks::kPlain);
    write_file(path, packed);
    for (const unsigned threads : {0u, 1u, 3u}) {
      merge::Helpers helpers(threads);
      const Read all = read(path, packed.size(), &helpers);
      EXPECT_TRUE(std::equal(all.records.begin(), all.records.end(), trace.begin() + kHeaderSize,
                             trace.end()))
          << attributes << " attributes, " << threads << " helpers";
      EXPECT_EQ(all.end, trace.size());
      EXPECT_EQ(all.place, packed.size());
      EXPECT_EQ(all.damage, "");
      EXPECT_EQ(all.error, "");
    }
  }
}

// Cut off at any length, or shorter than it is said to be.
TEST(LocalInput, HelpersTellTheSameDamage) {
  const TempDir dir;
  const std::string path = dir.file("0.0.elg");
  const Octets packed = compact::pack(events(3000, 10), compact::Blocks::kPlain);
  merge::Helpers helpers(2);
  for (std::size_t size = kHeaderSize; size < packed.size(); size += 97) {
    write_file(path, Octets(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size)));
    for (const std::uint64_t said : {size, packed.size()}) {
      const Read alone = read(path, said, nullptr);
      const Read several = read(path, said, &helpers);
      EXPECT_TRUE(several.records == alone.records) << size;
      EXPECT_EQ(several.end, alone.end) << size;
      EXPECT_EQ(several.place, alone.place) << size;
      EXPECT_EQ(several.damage, alone.damage) << size;
      EXPECT_EQ(several.error, alone.error) << size;
      EXPECT_EQ(alone.error.empty(), said == size) << size;
    }
  }
}

// From any record up to any other, read from the block on in which the first one lies.
TEST(LocalInput, Parts) {
  const TempDir dir;
  const std::string path = dir.file("0.0.elg");
  const Octets trace = events(20'000, 3);
  const std::size_t size = 2 + std::to_integer<std::size_t>(trace[kHeaderSize]);  // of each ENTER
  for (const bool compact : {true, false}) {
    const Octets bytes = compact ? compact::pack(trace, compact::Blocks::kChecked) : trace;
    write_file(path, bytes);
    merge::FileCache files(1);
    merge::LocalTrace local;
    local.parts = {{files.add(path), 0, bytes.size()}};
    local.size = bytes.size();
    if (compact) local.dialect.major = compact::kMajor;
    std::vector<compact::BlockPlace> blocks;
    merge::LocalInput whole(files, local, {});
    whole.note_blocks(blocks);
    whole.skip_to(trace.size());
    EXPECT_EQ(whole.offset(), trace.size());
    EXPECT_EQ(blocks.size() > 1, compact);
    // (Attributes stand before the 10,000th: those before and behind are all of one size.)
    for (std::uint64_t from = 0; from < 10'000; from += 997) {
      for (const std::uint64_t to :
           {from + 1, std::min<std::uint64_t>(from + 700, 9'999), std::uint64_t{9'999}}) {
        merge::InputPart part;
        part.first = kHeaderSize + from * size;
        part.end = kHeaderSize + to * size;
        // (Blocks that are unpacked together are noted by the last of them.)
        if (!compact) part.block = {part.first, part.first};
        for (const compact::BlockPlace& block : blocks) {
          if (block.records <= part.first) part.block = block;
        }
        merge::LocalInput input(files, local, {}, part);
        input.skip_to(part.first);
        Octets read;
        for (;;) {
          if (input.available() < kMaxRecord && !input.exhausted()) input.fill();
          if (input.available() == 0) break;
          read.insert(read.end(), input.position(), input.end());
          input.skip(input.available());
        }
        const auto begin = trace.begin() + static_cast<std::ptrdiff_t>(part.first);
        EXPECT_TRUE(std::equal(read.begin(), read.end(), begin,
                               begin + static_cast<std::ptrdiff_t>(part.end - part.first)))
            << from << " to " << to;
      }
    }
  }
}

// Inputs that go before they are read to their end.
TEST(LocalInput, MayGoEarly) {
  const TempDir dir;
  const std::string path = dir.file("0.0.elg");
  const Octets packed = compact::pack(events(3000, 0), compact::Blocks::kPlain);
  write_file(path, packed);
  merge::Helpers helpers(2);
  merge::FileCache files(1);
  merge::LocalTrace trace;
  trace.parts = {{files.add(path), 0, packed.size()}};
  trace.size = packed.size();
  trace.dialect.major = compact::kMajor;
  for (int i = 0; i < 200; ++i) {
    merge::LocalInput input(files, trace, {merge::LocalInput::kLeast, &helpers});
    merge::LocalInput other(files, trace, {merge::LocalInput::kLeast, &helpers});
    other.fill();
    EXPECT_GT(other.available(), 1024u);
    if (i % 2 == 0) other.release();
  }
}

class Adds : public merge::Helpers::Job {
 public:
  explicit Adds(std::atomic<int>& to) : to_(to) {}

 private:
  void run() override { ++to_; }
  std::atomic<int>& to_;
};

TEST(Helpers, DoEachJobOnce) {
  for (const unsigned threads : {0u, 1u, 4u}) {
    merge::Helpers helpers(threads);
    std::atomic<int> sum = 0;
    Adds a(sum), b(sum), c(sum);
    for (int i = 0; i < 1000; ++i) {
      helpers.post(a);
      helpers.post(b);
      helpers.post(c);
      helpers.finish(c);
      helpers.finish(a);
      helpers.finish(a);  // not posted again
      helpers.finish(b);
    }
    EXPECT_EQ(sum, 3000);
    helpers.post(a);
    helpers.drop(a);
    EXPECT_LE(sum, 3001);
  }
}

TEST(Helpers, GiveBackWhatIsThrown) {
  struct Throws : merge::Helpers::Job {
    void run() override { throw std::length_error("too long"); }
  };
  for (const unsigned threads : {0u, 2u}) {
    merge::Helpers helpers(threads);
    Throws job;
    for (int i = 0; i < 100; ++i) {
      helpers.post(job);
      EXPECT_THROW(helpers.finish(job), std::length_error);
    }
    helpers.post(job);
    helpers.drop(job);
  }
}

}  // namespace
}  // namespace kojak::test

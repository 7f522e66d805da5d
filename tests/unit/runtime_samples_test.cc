// What is noted of samples: a sample is whole or not there, and elg_keep's records of those that a
// process has left.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "epilog/runtime/save_samples.h"

namespace kojak::measure {
namespace {

class LeftSamples {
 public:
  LeftSamples() {
    std::memcpy(memory_->header.magic, SampleMemory::kMagic, sizeof SampleMemory::kMagic);
    memory_->header.thread = 5;
  }
  // A module of 0x1000 bytes.
  LeftSamples& module(std::uintptr_t begin, const std::string& path) {
    const std::uint64_t used = memory_->modules_used;
    const auto number = static_cast<std::uint32_t>(used >> 32);
    const auto at = static_cast<std::uint32_t>(used);
    SampledModule& m = memory_->modules[number];
    m.begin = begin;
    m.end = begin + 0x1000;
    m.base = begin - 0x10;
    m.path = at;
    m.path_size = static_cast<std::uint32_t>(path.size());
    m.build_id_size = 2;
    std::memcpy(memory_->texts + at, path.c_str(), path.size() + 1);
    m.ready = 1;
    memory_->modules_used = used + (std::uint64_t{1} << 32) + path.size() + 1;
    return *this;
  }
  NotedSample& sample(Ticks at, std::uint32_t count, const std::vector<std::uintptr_t>& path,
                      bool more = false) {
    const SampleState state = SampleState::of(memory_->state);
    NotedSample& s = memory_->samples[state.size];
    s.at = at;
    s.count = count;
    s.frames = static_cast<std::uint16_t>(path.size());
    s.more = more ? 1 : 0;
    s.next = {40, 30, 20, 10};
    for (std::size_t i = 0; i < path.size(); ++i) s.address[i] = path[i];
    s.mark = mark_of(s, state.round, state.size);
    memory_->state += 1;
    return s;
  }
  SampleMemory& memory() { return *memory_; }

  // A line for each record.
  std::string records(std::size_t size = sizeof(SampleMemory), std::uint32_t thread = 5) const {
    LocalBufferHeader header{};
    header.clock_scale = 1;
    header.location = 3;
    header.thread = thread;
    LastRecords last(header);
    if (memory_->is_of(header, size)) last.add_samples(*memory_);
    std::ostringstream text;
    for (std::size_t at = 0; at + 3 <= last.size();) {
      const std::byte* const p = last.records() + at;
      const auto body = std::to_integer<std::uint8_t>(p[1]);
      write(text, {std::to_integer<std::uint8_t>(p[2]), body, p + 3, 0});
      at += 3u + body;
    }
    return text.str();
  }

 private:
  template <class R>
  static R as(const RawRecord& raw) {
    R record;
    EXPECT_EQ(decode(raw, Dialect{}, record), nullptr);
    return record;
  }
  static void write(std::ostream& text, const RawRecord& raw) {
    const auto is = [&](RecordType type) { return raw.type == static_cast<std::uint8_t>(type); };
    const auto number = [](auto id) {
      return is_absent(id) ? std::string("-") : std::to_string(kojak::raw(id));
    };
    if (is(RecordType::kString)) {
      const auto r = as<String>(raw);
      text << "string " << number(r.strid) << ' ' << std::string_view(r.str.data(), r.str.size());
    } else if (is(RecordType::kStringCnt)) {
      const auto r = as<StringCnt>(raw);
      text << "more " << std::string_view(r.str.data(), r.str.size());
    } else if (is(RecordType::kLocalModule)) {
      const auto r = as<LocalModule>(raw);
      text << "module " << number(r.module) << " path " << number(r.pathid);
    } else if (is(RecordType::kLocalFrame)) {
      const auto r = as<LocalFrame>(raw);
      text << "frame " << number(r.frame) << " in " << number(r.module) << " at "
           << kojak::raw(r.address) << " of " << number(r.caller);
    } else if (is(RecordType::kLocalCut)) {
      const auto r = as<LocalCut>(raw);
      text << "cut " << number(r.frame) << " of " << number(r.caller);
    } else if (is(RecordType::kLocalSite)) {
      const auto r = as<LocalSite>(raw);
      text << "site " << number(r.rid) << " in " << number(r.module) << " at "
           << kojak::raw(r.address) << " of " << number(r.caller);
    } else if (is(RecordType::kLocalSample)) {
      const auto r = as<LocalSample>(raw);
      text << "sample of " << number(r.lid) << " at " << r.time.value << " in " << number(r.rid)
           << " count " << number(r.count);
    } else {
      text << "type " << static_cast<int>(raw.type);
    }
    text << '\n';
  }

  std::unique_ptr<SampleMemory> memory_ = std::make_unique<SampleMemory>();
};

TEST(LeftSamples, HaveTheDefinitionsThatTheyNeedOnce) {
  LeftSamples left;
  left.module(0x5000, "/bin/prog").module(0x9000, "/lib/libm.so");
  left.sample(7, 1, {0x9020, 0x5100});
  left.sample(8, 2, {0x9020, 0x5100});
  left.sample(9, 1, {0x5200}, true);
  EXPECT_EQ(left.records(),
            "string 40 /bin/prog\nmodule 30 path 40\nframe 20 in 30 at 272 of -\n"
            "string 41 /lib/libm.so\nmodule 31 path 41\nsite 10 in 31 at 49 of 20\n"
            "sample of 3 at 7 in 10 count 1\nsample of 3 at 8 in 10 count 2\n"
            "cut 21 of -\nsite 11 in 30 at 529 of 21\nsample of 3 at 9 in 11 count 1\n");
}

TEST(LeftSamples, AreWholeOrNotThere) {
  LeftSamples left;
  left.sample(7, 1, {0x100});
  left.sample(8, 1, {0x100}).count = 5;  // something was written over it
  left.sample(9, 1, {0x100}).mark = 0;   // its handler did not come to the end
  left.sample(6, 1, {0x100});            // a handler of the program came between: it began earlier
  EXPECT_EQ(left.records(),
            "site 10 in - at 257 of -\nsample of 3 at 7 in 10 count 1\n"
            "sample of 3 at 7 in 10 count 1\n");
  // Those of another round are not there.
  left.memory().state += std::uint64_t{1} << 32;
  EXPECT_EQ(left.records(), "");
}

TEST(LeftSamples, LongPathsAreWhole) {
  const std::string path = '/' + std::string(700, 'x');
  LeftSamples left;
  left.module(0x5000, path).sample(7, 1, {0x5000});
  std::istringstream lines(left.records());
  std::string found, word;
  std::getline(lines, word);
  found = word.substr(word.find('/'));
  while (std::getline(lines, word) && word.starts_with("more ")) found += word.substr(5);
  while (!found.empty() && found.back() == '\0') found.pop_back();
  EXPECT_EQ(found, path);
}

TEST(LeftSamples, DamagedMemoryIsNotBelieved) {
  LeftSamples left;
  left.module(0x5000, "/bin/prog").sample(7, 1, {0x5000});
  left.memory().modules[0].path_size = SampleMemory::kTexts;
  EXPECT_EQ(left.records(), "site 10 in - at 20481 of -\nsample of 3 at 7 in 10 count 1\n");
  EXPECT_EQ(left.records(sizeof(SampleMemory) - 1), "");
  EXPECT_EQ(left.records(sizeof(SampleMemory), 4), "");  // of another thread
  left.memory().header.magic[0] = 'e';
  EXPECT_EQ(left.records(), "");
  left.memory().header.magic[0] = 'E';
  left.memory().modules_used = ~std::uint64_t{0};
  left.memory().state = ~std::uint64_t{0};
  EXPECT_EQ(left.records(), "");
}

}  // namespace
}  // namespace kojak::measure

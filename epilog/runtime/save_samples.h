// The records that end the trace of a process that has died: the samples that it had noted but not
// written, and what else is put there. Made by elg_keep of the memory that it shares with the
// process, with the definitions that the samples need.
//
// What the memory holds is not trusted: a number out of range is a sample without place, or none.
// Records stand for themselves, with times in seconds. Nothing fails: without memory they are
// missing.
#pragma once

#include "epilog/format/compact/encode.h"
#include "epilog/format/io/local_buffer_header.h"
#include "epilog/runtime/sample_memory.h"
#include "epilog/runtime/string_records.h"

namespace kojak::measure {

class LastRecords {
 public:
  explicit LastRecords(const LocalBufferHeader& header) : header_(header) {}
  ~LastRecords() {
    records_.clear();
    frames_.clear();
    places_.clear();
  }
  LastRecords(const LastRecords&) = delete;
  LastRecords& operator=(const LastRecords&) = delete;

  void add_samples(const SampleMemory& memory) {
    memory_ = &memory;
    const SampleState state = SampleState::of(memory_->state.load());
    const std::uint32_t places =
        state.size < SampleMemory::kMost ? state.size : SampleMemory::kMost;
    for (std::uint32_t i = 0; i < places; ++i) {
      if (is_whole(*memory_, state.round, i)) next_ = memory_->samples[i].next;
    }
    for (std::uint32_t i = 0; i < places; ++i) {
      if (is_whole(*memory_, state.round, i)) add(memory_->samples[i]);
    }
  }

  template <class R>
  bool put(const R& record) {
    const std::size_t size = records_.size();
    if (!records_.reserve(size + kMaxRecord)) return false;
    std::byte* const begin = records_.data();
    return records_.resize(
        static_cast<std::size_t>(compact::encode_verbatim(record, begin + size) - begin));
  }
  const std::byte* records() const { return records_.data(); }
  std::size_t size() const { return records_.size(); }

 private:
  static constexpr std::uint32_t kNotYet = 0;

  void add(const NotedSample& sample) {
    Count called_by = absent<Count>();
    if (sample.more != 0) {
      called_by = frame(1, called_by, [&](Count number) { put(LocalCut{number, called_by}); });
    }
    for (unsigned i = sample.frames; i-- > 1;) {
      const std::uintptr_t address = sample.address[i];
      called_by = frame(address, called_by, [&](Count number) {
        const Place place = place_of(address);
        put(LocalFrame{number, place.module, place.offset, called_by});
      });
    }
    const std::uintptr_t behind = sample.address[0] + 1;  // a return address is behind its call
    const std::uint64_t key = mix(mix(behind) + raw(called_by)) | 1;
    std::uint32_t* site = places_.find(key);
    if (site == nullptr) {
      const Place place = place_of(behind);
      const auto id = static_cast<RegionId>(next_.place++);
      put(LocalSite{id, kSampled, place.module, place.offset, called_by});
      site = places_.set(key, raw(id));
    }
    const Seconds time = clock().seconds(sample.at);
    if (last_.value < time.value) last_ = time;
    put(LocalSample{static_cast<LocationId>(header_.location), last_,
                    site != nullptr ? static_cast<RegionId>(*site) : absent<RegionId>(),
                    Count{sample.count}});
  }

  // The number of a frame, which `define` writes where it is new.
  template <class F>
  Count frame(std::uintptr_t address, Count called_by, F&& define) {
    const std::uint64_t key = mix(mix(address) + raw(called_by));
    if (const std::uint32_t* known = frames_.find(key)) return Count{*known};
    const Count number{next_.frame++};
    define(number);
    frames_.set(key, raw(number));
    return number;
  }

  struct Place {
    Count module;
    Count64 offset;
  };
  Place place_of(std::uintptr_t address) {
    const auto used = static_cast<std::uint32_t>(memory_->modules_used.load() >> 32);
    for (std::uint32_t i = 0; i < used && i < SampleMemory::kMostModules; ++i) {
      const SampledModule& module = memory_->modules[i];
      if (module.ready.load() == 0 || !module.holds(address)) continue;
      const Count number = define(i, module);
      if (number != absent<Count>()) return {number, Count64{address - module.base}};
    }
    return {absent<Count>(), Count64{address}};
  }

  Count define(std::uint32_t i, const SampledModule& module) {
    if (modules_[i] != kNotYet) return Count{modules_[i] - 1};
    if (module.path >= SampleMemory::kTexts ||
        module.path_size >= SampleMemory::kTexts - module.path ||
        module.build_id_size > sizeof module.build_id) {
      return absent<Count>();
    }
    const auto path = static_cast<StringId>(next_.string++);
    put_string(path, memory_->texts + module.path, module.path_size,
               [&](const auto& record) { put(record); });
    const Count number{next_.module++};
    put(LocalModule{number, path, ByteArray(module.build_id, module.build_id_size, false)});
    modules_[i] = raw(number) + 1;
    return number;
  }

  compact::TickClock clock() const {
    return {header_.clock_base, header_.clock_scale, header_.clock_shift};
  }

  const LocalBufferHeader& header_;
  const SampleMemory* memory_ = nullptr;
  Vector<std::byte> records_;
  NextNumbers next_{};
  Seconds last_{-1e300};
  HashMap<std::uint32_t> frames_, places_;
  std::uint32_t modules_[SampleMemory::kMostModules] = {};  // 1 + number
};

}  // namespace kojak::measure

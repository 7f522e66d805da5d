// What is noted of a thread's samples until its next record, in memory that outlives the process.
//
// It is shared with elg_keep, as the thread's buffer is, and begins as that does; its magic is its
// own. Where the process died between two records, elg_keep writes it behind these
// (save_samples.h). The sampler's signal handler fills it, and a handler of the program may
// interrupt that anywhere, be sampled itself, call MPI, or never come back. So one store takes a
// place, and what is put there counts if its mark is that of its content and of the round: it is
// whole, or not there. A round ends when the samples are written, or thinned.
//
// The modules of the code are noted, too, since nobody can ask for them afterwards. Their places
// are never given back; nobody writes into one a second time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "epilog/runtime/clock.h"
#include "epilog/runtime/config.h"
#include "epilog/runtime/memory.h"
#include "epilog/runtime/python_sample.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

// A call that enters this stands for a sample.
inline constexpr auto kSampled = static_cast<RegionId>(1023);

// The next numbers of the thread's trace, for what elg_keep defines.
struct NextNumbers {
  std::uint32_t string, module, frame, place;
};

struct NotedSample {
  std::uint64_t mark;
  Ticks at;
  std::uint32_t count;  // intervals that it stands for
  std::uint16_t frames;
  std::uint16_t more;  // frames, further out
  NextNumbers next;
  std::uintptr_t address[kMostCallers];  // the innermost ones; the first is where the thread is
  PythonSample python;
};

struct SampledModule {
  std::atomic<std::uint32_t> ready;
  std::uint32_t path, path_size;  // in the texts
  std::uint32_t build_id_size;
  std::uintptr_t begin, end, base;
  std::byte build_id[64];
  bool holds(std::uintptr_t address) const { return address >= begin && address < end; }
};

struct SampleMemory {
  static constexpr char kMagic[8] = {'E', 'L', 'G', 'S', 'A', 'M', '2', '\0'};
  static constexpr std::uint32_t kMost = 1024, kMostModules = 192, kTexts = 32 * 1024;

  LocalBufferHeader header;                 // what it has of these: magic, rank, thread, state
  std::atomic<std::uint64_t> state;         // SampleState
  std::atomic<std::uint64_t> modules_used;  // number, and bytes of texts
  NotedSample samples[kMost];
  SampledModule modules[kMostModules];
  char texts[kTexts];

  bool is_of(const LocalBufferHeader& trace, std::size_t size) const {
    return size >= sizeof *this && header.rank == trace.rank && header.thread == trace.thread &&
           std::memcmp(header.magic, kMagic, sizeof kMagic) == 0;
  }
};

// One number, so that one store changes all of it.
struct SampleState {
  std::uint32_t round;
  std::uint16_t doublings;  // 2^doublings intervals are one sample
  std::uint16_t size;       // places taken
  static SampleState of(std::uint64_t value) {
    return {static_cast<std::uint32_t>(value >> 32), static_cast<std::uint16_t>(value >> 16),
            static_cast<std::uint16_t>(value)};
  }
  std::uint64_t value() const {
    return std::uint64_t{round} << 32 | std::uint64_t{doublings} << 16 | size;
  }
};

inline std::uint64_t mark_of(const NotedSample& sample, std::uint32_t round, std::uint32_t place) {
  std::uint64_t mark = mix(std::uint64_t{round} << 32 | place);
  const auto add = [&mark](std::uint64_t value) { mark = mix(mark + value); };
  add(sample.at);
  add(std::uint64_t{sample.count} << 32 | std::uint64_t{sample.frames} << 16 | sample.more);
  add(std::uint64_t{sample.next.string} << 32 | sample.next.module);
  add(std::uint64_t{sample.next.frame} << 32 | sample.next.place);
  for (std::uint32_t i = 0; i < sample.frames && i < kMostCallers; ++i) add(sample.address[i]);
  add(std::uint64_t{sample.python.frames} << 16 | sample.python.more);
  for (std::uint32_t i = 0; i < sample.python.frames && i < kMostPythonFrames; ++i) {
    add(sample.python.frame[i].code);
    add(sample.python.frame[i].instruction);
    add(sample.python.frame[i].identity);
  }
  return mark;
}
inline bool is_whole(const SampleMemory& memory, std::uint32_t round, std::uint32_t place) {
  const NotedSample& sample = memory.samples[place];
  return sample.mark == mark_of(sample, round, place) && sample.frames != 0 &&
         sample.frames <= kMostCallers;
}

}  // namespace kojak::measure

// All that a page keeps of a trace, or of a part of a run: tables that fit their limits, which can
// be added to those of the part before.
//
// Rows, processes, windows and regions are the same in all parts; call paths are not. Who reads a
// trace fills it (trace_reader.h). Memory follows the limits. Not thread-safe; nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "expert/page/density.h"
#include "expert/page/kept/box_rows.h"
#include "expert/page/kept/cells.h"
#include "expert/page/kept/sample.h"
#include "expert/page/kept/traffic_sums.h"
#include "expert/page/transfer_arrows.h"

namespace kojak::html {

struct TraceLimits {
  std::size_t boxes = 1'500'000;
  std::size_t waits = 800'000;
  std::size_t arrows = 300'000;  // messages, and as many transfers
  std::size_t bands = 300'000;
  std::size_t stripes = 200'000;  // times without a processor
  std::size_t cells = 4'000'000;  // of the density
  std::size_t pairs = 200'000;    // of processes, in the byte matrix
  std::size_t fence_members = 300'000;
};

struct TraceSums {
  static constexpr std::uint32_t kUnseen = static_cast<std::uint32_t>(-1);
  // Of one process on one window.
  struct Epoch {
    std::uint32_t process = 0, window = 0;
    BandKind kind{};
    auto operator<=>(const Epoch&) const = default;
  };
  struct EpochEnd {
    std::uint32_t row = 0;
    Nanoseconds end = 0;
  };

  TraceSums(std::size_t rows, std::uint32_t processes, const TraceLimits& limits);

  // The part of the run behind this one; its call path p is paths[p] here.
  void add(TraceSums& behind, std::span<const std::uint32_t> paths);
  template <class Archive>
  void visit(Archive& archive) {
    archive(boxes, waits, bands, stripes, messages, fences, transfers, traffic, density,
            path_regions, begin, end, since, first_ends);
  }
  // Once; but what is said of rows, regions and objects.
  void finish(Nanoseconds length, TraceContent& content);

  BoxRows boxes;
  Cells<WaitBox> waits;
  Cells<Band> bands;
  Cells<Stripe> stripes;
  Sample<MessageArrow> messages;
  Sample<FenceInstance> fences;
  TransferArrows transfers;
  TrafficSums traffic;
  DensityBins density;
  std::vector<std::uint32_t> path_regions;  // by call path; kUnseen: no call of it was entered
  double begin = 0, end = 0;                // of the run; so far
  // Fence epochs and locks of all that go on, and since when; ends of those that began in a part
  // before, which of one kind is the first end in the part.
  std::map<Epoch, Nanoseconds> since;
  std::map<Epoch, EpochEnd> first_ends;
};

}  // namespace kojak::html

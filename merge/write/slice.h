// A part of a run that pass 2 writes by itself: of each process with one thread what lies from the
// begin of one call to the end of another one, and where the process stands when it begins.
//
// Nothing but what is told here may be open where it begins: no other epoch or lock, no request, no
// operation.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "merge/input/local_input.h"

namespace kojak::merge {

struct Slice {
  // A window whose epochs have begun to count. In merged numbers, as all that follows.
  struct Window {
    std::uint32_t id = 0;
    std::uint64_t fences = 0, completions = 0;
    bool fence_open = false;
    std::uint8_t all = 0;  // flags of a lock of all
    struct Peer {
      std::uint32_t rank;
      std::uint64_t access, exposure;
    };
    std::vector<Peer> peers;
    template <class Archive>
    void visit(Archive& archive) {
      archive(id, fences, completions, fence_open, all, peers);
    }
  };
  struct OfTrace {
    InputPart part;
    std::uint64_t met = 0;            // offset of the record that ends the first call; 0: none
    std::uint64_t last = 0;           // of the one that ends the last call; 0: none
    std::vector<std::uint32_t> open;  // regions, from the outermost inwards
    std::vector<Window> windows;
  };
  std::vector<OfTrace> traces;
  bool ends_run = false;  // else what is open at its end stays so
  // Told when the first call of a trace's part has ended, and the last one: which trace, which of
  // the two, and how many events have been written then. In the thread that writes.
  std::function<void(std::size_t, bool, std::uint64_t)> edge;
};

}  // namespace kojak::merge

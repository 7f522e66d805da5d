// Regions and call sites of what GASP tells, which names file and line itself: no address.
//
// For the first kMostLines of a thread; behind that regions stand without their lines. Used by the
// thread alone.
#pragma once

#include "epilog/runtime/memory.h"
#include "epilog/runtime/recorder.h"

namespace kojak::measure {

class GaspSites {
 public:
  // What an event of this region at that place is called in the thread's file; absent where
  // nothing can be recorded. The file's text must stay where it is.
  RegionId find(Recorder& r, unsigned function, const char* file, int line);
  void clear();

 private:
  RegionId define(Recorder& r, std::uint64_t key, unsigned function, const char* file, int line);
  RegionId plain_region(Recorder& r, unsigned function);
  FileId file_of(Recorder& r, const char* file);

  struct Slot {
    std::uint64_t key;
    RegionId region;
  };
  static constexpr unsigned kBits = 8;
  Slot slots_[1u << kBits] = {};
  HashMap<RegionId> sites_;
  HashMap<std::uint32_t> regions_, files_;
  std::uint32_t lines_ = 0;
};

}  // namespace kojak::measure

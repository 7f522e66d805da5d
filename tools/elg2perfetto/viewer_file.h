// What a viewer of timelines is told: tracks, slices on them, flows between them, counters.
//
// Times are nanoseconds since the trace's beginning. What is known late may be told late, since
// viewers sort what they read. Not thread-safe; errors are remembered until flush() (exit code 4).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::perfetto {

using TrackId = std::uint64_t;

class ViewerFile {
 public:
  virtual ~ViewerFile() = default;

  // ---- tracks, before anything stands on them
  virtual TrackId process(std::uint32_t pid, std::string_view name) = 0;
  virtual TrackId thread(std::uint32_t pid, std::uint32_t tid, std::string_view name) = 0;
  // Below another track; 0: at the top. After all processes.
  virtual TrackId track(TrackId parent, std::string_view name) = 0;
  virtual TrackId counter(TrackId process, std::string_view name) = 0;

  // ---- events of a track
  struct Place {
    std::string_view file;
    std::uint32_t line = 0;
  };
  virtual void begin(TrackId track, std::uint64_t time, std::string_view name,
                     std::string_view category, const Place* place) = 0;
  virtual void end(TrackId track, std::uint64_t time) = 0;
  // A moment; `flow` connects those of the same number, `last` ends it.
  struct Fact {
    std::string_view name;
    std::uint64_t value;
  };
  virtual void moment(TrackId track, std::uint64_t time, std::string_view name, std::uint64_t flow,
                      bool last, std::initializer_list<Fact> facts) = 0;
  virtual void count(TrackId track, std::uint64_t time, std::int64_t value) = 0;
  // A slice with text beside it, of which both ends are known.
  struct Text {
    std::string name, value;
  };
  virtual void slice(TrackId track, std::uint64_t begin, std::uint64_t end, std::string_view name,
                     const std::vector<Text>& texts) = 0;

  // After the last event.
  virtual Status flush() = 0;
};

}  // namespace kojak::perfetto

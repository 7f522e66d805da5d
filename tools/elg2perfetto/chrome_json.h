// The events of a trace in Chrome's format, JSON, for viewers that know no other.
//
// A flow begins and ends in the slices around its moments. Tracks below another one are threads of
// a process of their own. Writes as it goes, in blocks, one event a line. Memory: the names.
// Source: "Trace Event Format", the document that Chrome's about:tracing links to.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "epilog/format/io/writer.h"
#include "tools/elg2perfetto/viewer_file.h"

namespace kojak::perfetto {

class ChromeJson final : public ViewerFile {
 public:
  explicit ChromeJson(OutputFile& out);

  TrackId process(std::uint32_t pid, std::string_view name) override;
  TrackId thread(std::uint32_t pid, std::uint32_t tid, std::string_view name) override;
  TrackId track(TrackId parent, std::string_view name) override;
  TrackId counter(TrackId process, std::string_view name) override;
  void begin(TrackId track, std::uint64_t time, std::string_view name, std::string_view category,
             const Place* place) override;
  void end(TrackId track, std::uint64_t time) override;
  void moment(TrackId track, std::uint64_t time, std::string_view name, std::uint64_t flow,
              bool last, std::initializer_list<Fact> facts) override;
  void count(TrackId track, std::uint64_t time, std::int64_t value) override;
  void slice(TrackId track, std::uint64_t begin, std::uint64_t end, std::string_view name,
             const std::vector<Text>& texts) override;
  Status flush() override;

 private:
  struct Track {
    std::uint32_t pid = 0, below = 0;    // how many tracks stand below it
    std::string head;                    // "pid":1,"tid":2; of a counter its name, too
    std::vector<std::string_view> open;  // names of its open slices, as in quoted_
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  TrackId add(std::uint32_t pid, std::uint32_t tid);
  void describe(TrackId track, const char* what, std::string_view name);
  // The beginning of an event; a phase is what Chrome calls its kind.
  void open(char phase, TrackId track);
  void open(char phase, TrackId track, std::uint64_t time);
  void close();
  void number(std::uint64_t value);
  void microseconds(std::uint64_t nanoseconds);
  // With quotes; names are kept.
  std::string_view quoted(std::string_view name);
  void write();

  OutputFile& out_;
  std::string buffer_;
  Error error_;
  std::vector<Track> tracks_;  // by number, from 1
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> quoted_;
  std::uint32_t last_pid_ = 0;
};

}  // namespace kojak::perfetto

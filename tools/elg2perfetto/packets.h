// A Perfetto trace, packet by packet: tracks, slices on them, flows between them, counters.
//
// Each thread of the traced program is a sequence of packets with names of its own (interned, each
// written once) and times as differences. Times are nanoseconds since the trace's beginning; what
// is known late may be told late, since Perfetto sorts what it reads. Writes as it goes, in blocks;
// errors are remembered until commit() (exit code 4). Memory: the names. Not thread-safe. Source:
// perfetto.dev, "Converting arbitrary timestamped data to Perfetto", and the published definitions
// trace_packet.proto, track_event.proto, interned_data.proto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "epilog/format/writer.h"
#include "tools/elg2perfetto/message.h"

namespace kojak::perfetto {

using TrackId = std::uint64_t;

class Packets {
 public:
  explicit Packets(OutputFile& out) : out_(out) {}

  // ---- tracks, before anything stands on them
  TrackId process(std::uint32_t pid, std::string_view name);
  TrackId thread(std::uint32_t pid, std::uint32_t tid, std::string_view name);
  // Below another track; 0: at the top.
  TrackId track(TrackId parent, std::string_view name);
  TrackId counter(TrackId parent, std::string_view name);

  // ---- events of a track that is a sequence of its own
  struct Place {
    std::string_view file;
    std::uint32_t line = 0;
  };
  void begin(TrackId track, std::uint64_t time, std::string_view name, std::string_view category,
             const Place* place = nullptr);
  void end(TrackId track, std::uint64_t time);
  // A moment; `flow` connects those of the same number, `last` ends it.
  struct Fact {
    std::string_view name;
    std::uint64_t value;
  };
  void moment(TrackId track, std::uint64_t time, std::string_view name, std::uint64_t flow,
              bool last, std::initializer_list<Fact> facts = {});
  void count(TrackId track, std::uint64_t time, std::int64_t value);
  // A slice with text beside it, of which both ends are known.
  struct Text {
    std::string name, value;
  };
  void slice(TrackId track, std::uint64_t begin, std::uint64_t end, std::string_view name,
             const std::vector<Text>& texts);

  Status flush();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Names = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;
  struct Sequence {
    std::uint64_t last = 0;
    Names names, categories, places;
    bool begun = false;
  };
  TrackId describe(Message& descriptor);
  Sequence& sequence(TrackId track);
  // The number of a name; added to `interned` if it is new to the sequence.
  static std::uint64_t intern(Names& known, std::string_view text, std::uint32_t field,
                              Message& interned);
  Message& named_event(Sequence& sequence, std::uint64_t type, std::string_view name);
  void put_event(TrackId track, std::uint64_t time, const Message& event, const Message& interned);
  void put(const Message& packet);

  OutputFile& out_;
  std::string buffer_;
  Error error_;
  TrackId next_ = 1;
  std::unordered_map<TrackId, Sequence> sequences_;
  // Kept for their memory only.
  Message event_, packet_, whole_, interned_, fact_;
  std::string key_;
};

}  // namespace kojak::perfetto

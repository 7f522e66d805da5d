// A Perfetto trace, packet by packet.
//
// Each thread of the traced program is a sequence of packets with names of its
// own (interned, each written once) and times as differences. Writes as it
// goes, in blocks. Memory: the names. Source: perfetto.dev, "Converting
// arbitrary timestamped data to Perfetto", and the published definitions
// trace_packet.proto, track_event.proto, interned_data.proto.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "epilog/format/io/writer.h"
#include "tools/elg2perfetto/message.h"
#include "tools/elg2perfetto/viewer_file.h"

namespace kojak::perfetto {

class Packets final : public ViewerFile {
 public:
  explicit Packets(OutputFile& out) : out_(out), sequences_(1) {}

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
  Message whole_;  // packets that wait to be written
  Error error_;
  std::vector<Sequence> sequences_;  // by track, from 1
  // Kept for their memory only.
  Message event_, packet_, interned_, fact_;
  std::string key_;
};

}  // namespace kojak::perfetto

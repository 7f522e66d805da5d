#include "tools/elg2perfetto/packets.h"

namespace kojak::perfetto {
namespace {

// Numbers of fields, by message.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kEvent = 11,
                        kInterned = 12, kFlags = 13, kDefaults = 59, kDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
}
namespace event {
constexpr std::uint32_t kCategory = 3, kFact = 4, kType = 9, kName = 10, kTrack = 11,
                        kCounterValue = 30, kPlace = 34, kFlow = 47, kLastOfFlow = 48;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kMoment = 3, kCount = 4;
}  // namespace event
namespace interned {
constexpr std::uint32_t kCategory = 1, kName = 2, kPlace = 4;
constexpr std::uint32_t kNumber = 1, kText = 2, kLine = 4;  // of each of them
}  // namespace interned
namespace fact {
constexpr std::uint32_t kUnsigned = 3, kText = 6, kName = 10;
}
namespace clocks {
constexpr std::uint32_t kClock = 1, kId = 1, kTime = 2, kIncremental = 3;
constexpr std::uint64_t kOfTrace = 6;      // Perfetto's own: boot time, in nanoseconds
constexpr std::uint64_t kOfSequence = 64;  // ours, as differences
}  // namespace clocks
// Of a packet, and of what all packets of a sequence have in common.
constexpr std::uint32_t kUsedClock = 58, kDefaultEvent = 11;

constexpr std::size_t kBlock = 1 << 20;
const Message kNothing;

}  // namespace

void Packets::put(const Message& packet) {
  whole_.message(trace::kPacket, packet);
  if (whole_.bytes().size() >= kBlock) static_cast<void>(flush());
}

Status Packets::flush() {
  if (error_.reason.empty()) {
    const std::string_view block = whole_.bytes();
    if (Status written = out_.write(block.data(), block.size()); !written) error_ = written.error();
  }
  whole_.clear();
  return error_.reason.empty() ? Status() : Status(error_);
}

TrackId Packets::describe(Message& descriptor) {
  const TrackId track = sequences_.size();
  sequences_.emplace_back();
  descriptor.number(descriptor::kUuid, track);
  Message packet;
  packet.number(packet::kSequence, track).message(packet::kDescriptor, descriptor);
  put(packet);
  return track;
}

TrackId Packets::process(std::uint32_t pid, std::string_view name) {
  Message process, descriptor;
  process.number(1, pid).text(6, name);
  descriptor.message(descriptor::kProcess, process);
  return describe(descriptor);
}

TrackId Packets::thread(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
  Message thread, descriptor;
  thread.number(1, pid).number(2, tid).text(5, name);
  descriptor.message(descriptor::kThread, thread);
  return describe(descriptor);
}

TrackId Packets::track(TrackId parent, std::string_view name) {
  Message descriptor;
  descriptor.text(descriptor::kName, name);
  if (parent != 0) descriptor.number(descriptor::kParent, parent);
  return describe(descriptor);
}

TrackId Packets::counter(TrackId parent, std::string_view name) {
  Message descriptor;
  descriptor.text(descriptor::kName, name).number(descriptor::kParent, parent);
  descriptor.message(descriptor::kCounter, {});
  return describe(descriptor);
}

// A sequence begins with its clock and with what all its events have in common.
Packets::Sequence& Packets::sequence(TrackId track) {
  Sequence& sequence = sequences_[track];
  if (sequence.begun) return sequence;
  sequence.begun = true;
  Message of_trace, own, snapshot, of_event, defaults, packet;
  of_trace.number(clocks::kId, clocks::kOfTrace).number(clocks::kTime, 0);
  own.number(clocks::kId, clocks::kOfSequence).number(clocks::kTime, 0);
  own.number(clocks::kIncremental, 1);
  snapshot.message(clocks::kClock, of_trace).message(clocks::kClock, own);
  of_event.number(event::kTrack, track);
  defaults.number(kUsedClock, clocks::kOfSequence).message(kDefaultEvent, of_event);
  packet.number(packet::kSequence, track).number(packet::kFlags, packet::kStateCleared);
  packet.message(packet::kClockSnapshot, snapshot).message(packet::kDefaults, defaults);
  put(packet);
  return sequence;
}

std::uint64_t Packets::intern(Names& known, std::string_view text, std::uint32_t field,
                              Message& interned) {
  if (const auto it = known.find(text); it != known.end()) return it->second;
  const std::uint64_t number = known.size() + 1;
  known.emplace(text, number);
  Message entry;
  entry.number(interned::kNumber, number).text(interned::kText, text);
  interned.message(field, entry);
  return number;
}

void Packets::put_event(TrackId track, std::uint64_t time, const Message& event,
                        const Message& interned) {
  Sequence& sequence = this->sequence(track);
  Message& packet = packet_;
  packet.clear();
  if (time < sequence.last) {  // known late: as an absolute time
    packet.number(packet::kTimestamp, time).number(kUsedClock, clocks::kOfTrace);
  } else {
    packet.number(packet::kTimestamp, time - sequence.last);
    sequence.last = time;
  }
  packet.number(packet::kSequence, track);
  packet.number(packet::kFlags, packet::kNeedsState);
  if (!interned.bytes().empty()) packet.message(packet::kInterned, interned);
  packet.message(packet::kEvent, event);
  put(packet);
}

// The beginning of an event; its new names are in interned_.
Message& Packets::named_event(Sequence& sequence, std::uint64_t type, std::string_view name) {
  interned_.clear();
  event_.clear();
  event_.number(event::kType, type);
  event_.number(event::kName, intern(sequence.names, name, interned::kName, interned_));
  return event_;
}

void Packets::begin(TrackId track, std::uint64_t time, std::string_view name,
                    std::string_view category, const Place* place) {
  Sequence& sequence = this->sequence(track);
  Message& event = named_event(sequence, event::kBegin, name);
  event.number(event::kCategory,
               intern(sequence.categories, category, interned::kCategory, interned_));
  if (place != nullptr) {
    key_.assign(place->file).append(1, ':').append(std::to_string(place->line));
    const auto [it, added] = sequence.places.try_emplace(key_, sequence.places.size() + 1);
    if (added) {
      Message entry;
      entry.number(interned::kNumber, it->second).text(interned::kText, place->file);
      entry.number(interned::kLine, place->line);
      interned_.message(interned::kPlace, entry);
    }
    event.number(event::kPlace, it->second);
  }
  put_event(track, time, event, interned_);
}

void Packets::end(TrackId track, std::uint64_t time) {
  Message& event = event_;
  event.clear();
  event.number(event::kType, event::kEnd);
  put_event(track, time, event, kNothing);
}

void Packets::moment(TrackId track, std::uint64_t time, std::string_view name, std::uint64_t flow,
                     bool last, std::initializer_list<Fact> facts) {
  Message& event = named_event(sequence(track), event::kMoment, name);
  for (const Fact& f : facts) {
    Message& fact = fact_;
    fact.clear();
    fact.text(fact::kName, f.name).number(fact::kUnsigned, f.value);
    event.message(event::kFact, fact);
  }
  event.fixed64(last ? event::kLastOfFlow : event::kFlow, flow);
  put_event(track, time, event, interned_);
}

void Packets::count(TrackId track, std::uint64_t time, std::int64_t value) {
  Message& event = event_;
  event.clear();
  event.number(event::kType, event::kCount);
  event.number(event::kCounterValue, static_cast<std::uint64_t>(value));
  put_event(track, time, event, kNothing);
}

void Packets::slice(TrackId track, std::uint64_t begin, std::uint64_t end, std::string_view name,
                    const std::vector<Text>& texts) {
  Message& event = named_event(sequence(track), event::kBegin, name);
  for (const Text& t : texts) {
    Message& fact = fact_;
    fact.clear();
    fact.text(fact::kName, t.name).text(fact::kText, t.value);
    event.message(event::kFact, fact);
  }
  put_event(track, begin, event, interned_);
  this->end(track, end);
}

}  // namespace kojak::perfetto

#include "tools/elg2otf2/event_writer.h"

#include <algorithm>
#include <cmath>

#include "epilog/format/collective_operations.h"
#include "epilog/format/field_values.h"
#include "tools/elg2otf2/atomics.h"

namespace kojak::otf2 {
namespace {

// By the numbers of CollectiveOp. OTF2 has none for neighbourhoods.
constexpr OTF2_CollectiveOp kOperations[] = {
    OTF2_COLLECTIVE_OP_BARRIER,        OTF2_COLLECTIVE_OP_BARRIER,
    OTF2_COLLECTIVE_OP_BCAST,          OTF2_COLLECTIVE_OP_SCATTER,
    OTF2_COLLECTIVE_OP_SCATTERV,       OTF2_COLLECTIVE_OP_GATHER,
    OTF2_COLLECTIVE_OP_GATHERV,        OTF2_COLLECTIVE_OP_REDUCE,
    OTF2_COLLECTIVE_OP_ALLGATHER,      OTF2_COLLECTIVE_OP_ALLGATHERV,
    OTF2_COLLECTIVE_OP_ALLREDUCE,      OTF2_COLLECTIVE_OP_ALLTOALL,
    OTF2_COLLECTIVE_OP_ALLTOALLV,      OTF2_COLLECTIVE_OP_ALLTOALLW,
    OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
    OTF2_COLLECTIVE_OP_SCAN,           OTF2_COLLECTIVE_OP_EXSCAN,
    OTF2_COLLECTIVE_OP_ALLGATHER,      OTF2_COLLECTIVE_OP_ALLGATHERV,
    OTF2_COLLECTIVE_OP_ALLTOALL,       OTF2_COLLECTIVE_OP_ALLTOALLV,
    OTF2_COLLECTIVE_OP_ALLTOALLW};
static_assert(std::size(kOperations) == kBlockingForms.size());

}  // namespace

EventWriter::EventWriter(const Definitions& definitions, Numbers& numbers, ArchiveWriter& archive,
                         GetTargets& targets, bool single_flags)
    : definitions_(definitions),
      numbers_(numbers),
      archive_(archive),
      targets_(targets),
      single_flags_(single_flags),
      grants_(definitions.merged_run && raw(definitions.merged_run->locks) != 0),
      streams_(std::max(1u, numbers.locations())),
      processes_(streams_.size()) {
  for (std::uint32_t i = 0; i < numbers.locations(); ++i) {
    streams_[i].out = archive.events(i);
    streams_[i].process = numbers.process(i);
    const std::uint32_t main = numbers.main(raw(streams_[i].process));
    process_of_.push_back(main == kAbsent ? i : main);
  }
}

EventWriter::Process& EventWriter::process(const Stream& stream) {
  return processes_[process_of_[static_cast<std::size_t>(&stream - streams_.data())]];
}

MpiRole EventWriter::role(OTF2_RegionRef ref) const {
  return definitions_.role(RegionId{ref});
}

std::optional<OTF2_RmaAtomicType> EventWriter::atomic(const Stream& stream) const {
  const MpiRole called = role(stream);
  if (called != MpiRole::kAccumulate && called != MpiRole::kGetAccumulate &&
      called != MpiRole::kRequestTransfer) {
    return std::nullopt;
  }
  return atomic_type(*definitions_.regions.find(RegionId{stream.open.back().region})->function);
}

// Ticks since time 0, moved so that none is negative.
std::uint64_t EventWriter::tick_of(Seconds time) {
  constexpr double kMost = 4e18;
  const double ticks = time.value * kTicksPerSecond;
  // Not a number is 0.
  const double exact = ticks >= -kMost ? std::min(ticks, kMost) : ticks < -kMost ? -kMost : 0;
  const auto whole = static_cast<std::int64_t>(exact);
  const double rest = exact - static_cast<double>(whole);
  const std::int64_t tick = whole + (rest >= 0.5) - (rest <= -0.5);
  if (!started_) {
    started_ = true;
    // Where times are negative, or begin at 0, earlier ones may follow in a trace that is not
    // sorted.
    constexpr std::int64_t kRoom = std::int64_t{1} << 40;
    zero_ = tick >= kRoom ? 0 : static_cast<std::uint64_t>(kRoom - std::min<std::int64_t>(tick, 0));
    first_ = static_cast<std::uint64_t>(tick) + zero_;
  }
  const std::int64_t moved = tick + static_cast<std::int64_t>(zero_);
  return moved < 0 ? 0 : static_cast<std::uint64_t>(moved);
}

// Puts an event behind the latest of its location, and notes what its tick and location do not say.
std::uint64_t EventWriter::begin(std::uint32_t location, LocationId lid, Seconds time,
                                 LocationId assumed) {
  Stream& stream = at(location);
  const std::uint64_t exact = tick_of(time);
  const std::uint64_t tick = std::max(stream.last, exact);
  stream.last = tick;
  first_ = std::min(first_, tick);
  last_ = std::max(last_, tick);
  const CarriedNames& names = CarriedNames::get();
  timed_ = tick != exact;
  if (timed_) add(names.time(), time);
  if (lid != assumed) add(names.lid(), std::uint64_t{raw(lid)});
  const Place natural{tick, location, 0};
  placed_ = natural < place_;
  if (placed_) {
    ++place_.number;
    if (place_.tick != tick) add(CarriedNames::kTick, place_.tick);
    add(CarriedNames::kLocation, std::uint64_t{place_.location});
    add(CarriedNames::kNumber, std::uint64_t{place_.number});
  } else {
    place_ = natural;
  }
  return tick;
}

std::uint32_t EventWriter::root_of(CommId comm, PeerId root) {
  const std::uint32_t rank = is_absent(root) ? kAbsent : numbers_.rank(comm, root);
  return rank == kAbsent ? std::uint32_t{OTF2_COLLECTIVE_ROOT_NONE} : rank;
}

OTF2_CollectiveOp EventWriter::collective_of(std::uint8_t operation) {
  return kOperations[operation < std::size(kOperations) ? operation : 0];
}

std::uint64_t EventWriter::bytes(Bytes count, Byte attribute) const {
  if (!is_absent(count)) return raw(count);
  const std::size_t wanted =
      CarriedNames::attribute(static_cast<std::uint8_t>(RecordType::kAttrUi8), raw(attribute));
  for (const auto& [name, value] : carried_) {
    if (name == wanted) return value;
  }
  return 0;
}

bool EventWriter::before(Stream& stream, std::uint64_t tick, const MpiCollExit& r) {
  if (numbers_.comm(r.cid) == OTF2_UNDEFINED_COMM) return false;
  const RegionDef* region = definitions_.regions.find(RegionId{stream.open.back().region});
  std::uint8_t operation = 0;
  for (std::uint8_t op = 1; region != nullptr && op < kBlockingForms.size(); ++op) {
    if (blocking_form(op) == region->function && region->function != nullptr) operation = op;
  }
  archive_.check(OTF2_EvtWriter_MpiCollectiveBegin(stream.out, nullptr, call_begin(stream, tick)));
  archive_.check(OTF2_EvtWriter_MpiCollectiveEnd(
      stream.out, nullptr, tick, collective_of(operation), numbers_.comm(r.cid),
      root_of(r.cid, r.rlid), bytes(r.sent, kAttrBytesSent), bytes(r.recvd, kAttrBytesReceived)));
  return true;
}

bool EventWriter::before(Stream& stream, std::uint64_t tick, const MpiWinCollExit& r) {
  const WindowDef* const window = definitions_.windows.find(r.wid);
  if (window == nullptr) return false;
  const MpiRole called = role(stream);
  OTF2_CollectiveOp operation = OTF2_COLLECTIVE_OP_BARRIER;
  const bool allocated = window->flavour == kFlavourAllocated || window->flavour == kFlavourShared;
  if (!is_window_collective(called)) {
    archive_.check(
        OTF2_EvtWriter_RmaCollectiveBegin(stream.out, nullptr, call_begin(stream, tick)));
  }
  complete(stream, tick, r.wid, absent<PeerId>());
  if (called == MpiRole::kWinCreate) {
    operation = allocated ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE
                          : OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    archive_.check(OTF2_EvtWriter_RmaWinCreate(stream.out, nullptr, tick, raw(r.wid)));
  } else if (called == MpiRole::kWinFree) {
    operation = allocated ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE
                          : OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
  }
  archive_.check(OTF2_EvtWriter_RmaCollectiveEnd(stream.out, nullptr, tick, operation, level(true),
                                                 raw(r.wid), OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
  if (called == MpiRole::kWinFree) {
    archive_.check(OTF2_EvtWriter_RmaWinDestroy(stream.out, nullptr, tick, raw(r.wid)));
  }
  return true;
}

bool EventWriter::before(Stream& stream, std::uint64_t tick, const MpiWinExit& r) {
  if (definitions_.windows.find(r.wid) == nullptr) return false;
  const bool ends = raw(r.synex) != 0;
  if (ends && role(stream) == MpiRole::kWinComplete) {
    complete(stream, tick, r.wid, absent<PeerId>());
  }
  archive_.check(OTF2_EvtWriter_RmaGroupSync(
      stream.out, nullptr, ends ? tick : call_begin(stream, tick), level(ends), raw(r.wid),
      is_absent(r.cid) ? OTF2_UNDEFINED_GROUP : numbers_.group(r.cid)));
  return true;
}

MpiCollExit EventWriter::assumed(const MpiCollExit& r) {
  MpiCollExit said = r;
  if (root_of(r.cid, r.rlid) == OTF2_COLLECTIVE_ROOT_NONE) said.rlid = absent<PeerId>();
  said.sent = static_cast<Bytes>(bytes(r.sent, kAttrBytesSent));
  said.recvd = static_cast<Bytes>(bytes(r.recvd, kAttrBytesReceived));
  return said;
}

MpiWinExit EventWriter::assumed(const MpiWinExit& r) const {
  MpiWinExit said = r;
  if (numbers_.group(r.cid) == OTF2_UNDEFINED_GROUP) said.cid = absent<CommId>();
  said.synex = Byte{raw(r.synex) != 0 && !single_flags_};
  return said;
}

void EventWriter::finish_atomic(Stream& stream, std::uint64_t tick) {
  const AtomicGet get = stream.get;
  stream.get.number = absent<RmaId>();
  const auto type = atomic(stream);
  if (!type) return;
  OTF2_AttributeList* const list = OTF2_AttributeList_New();
  OTF2_AttributeValue none;
  none.uint64 = 0;  // no record of the trace
  archive_.check(OTF2_AttributeList_AddAttribute(list, kFirstCarried + CarriedNames::kRecord,
                                                 OTF2_TYPE_UINT64, none));
  archive_.check(OTF2_EvtWriter_RmaAtomic(stream.out, list, tick, raw(get.window), get.target,
                                          *type, 0, raw(get.bytes), raw(get.number)));
  OTF2_AttributeList_Delete(list);
}

// Puts that this process may reuse the memory of from here on, by MPI's rules.
void EventWriter::complete(Stream& stream, std::uint64_t tick, WindowId window, PeerId target) {
  auto& operations = process(stream).operations;
  const auto known = operations.find(window);
  if (known == operations.end()) return;
  std::erase_if(known->second, [&](const Operation& operation) {
    if (!is_absent(target) && operation.target != target) return false;
    archive_.check(OTF2_EvtWriter_RmaOpCompleteNonBlocking(stream.out, nullptr, tick, raw(window),
                                                           raw(operation.number)));
    return true;
  });
}

// The request stands where the call begins, though the trace tells of it later.
void EventWriter::lock(Stream& stream, std::uint64_t tick, Seconds time, const Lock& lock) {
  const std::uint64_t asked = call_begin(stream, tick);
  if (asked != tick) {
    if (placed_ && !timed_) add(CarriedNames::get().time(), time);
    if (!placed_ || place_.tick == tick) add(CarriedNames::kTick, tick);
  }
  archive_.check(OTF2_EvtWriter_RmaRequestLock(
      stream.out, attributes(), asked, raw(lock.window), remote(lock.window, lock.target), 0,
      lock.exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED));
  process(stream).locks.push_back(lock);
  if (grants_) acquire(stream, tick, lock.window, lock.target);
}

// Held from here on, at the latest.
void EventWriter::acquire(Stream& stream, std::uint64_t tick, WindowId window, PeerId target) {
  for (Lock& lock : process(stream).locks) {
    if (lock.acquired || lock.window != window) continue;
    if (lock.target != target && !is_absent(target)) continue;
    lock.acquired = true;
    archive_.check(OTF2_EvtWriter_RmaAcquireLock(
        stream.out, nullptr, tick, raw(window), remote(window, lock.target), 0,
        lock.exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED));
  }
}

void EventWriter::unlock(Stream& stream, std::uint64_t tick, WindowId window, PeerId target) {
  acquire(stream, tick, window, target);
  archive_.check(OTF2_EvtWriter_RmaReleaseLock(stream.out, attributes(), tick, raw(window),
                                               remote(window, target), 0));
  std::erase_if(process(stream).locks,
                [&](const Lock& lock) { return lock.window == window && lock.target == target; });
}

void EventWriter::finish() {
  if (held_) release();
  for (Stream& stream : streams_) {
    for (; !stream.open.empty(); stream.open.pop_back()) {
      add(CarriedNames::kRecord, std::uint64_t{0});  // no record of the trace
      archive_.check(
          OTF2_EvtWriter_Leave(stream.out, attributes(), stream.last, stream.open.back().region));
      clear();
    }
  }
}

}  // namespace kojak::otf2

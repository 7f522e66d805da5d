// The records of a trace as they come back from one location of an archive of elg2otf2.
//
// Internal to own_archive.cc. A Stream is the receiver of the callbacks of its location; it keeps
// the records that have been read and not yet been written. Single-threaded; nothing fails here.
#pragma once

#include <otf2/otf2.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "epilog/format/io/writer.h"
#include "tools/elg2otf2/carried.h"
#include "tools/elg2otf2/numbers.h"

namespace kojak::otf2 {

inline constexpr std::size_t kMostNames = 128;  // of attributes

// What all locations share.
struct Shared {
  const Definitions& definitions;
  const Numbers& numbers;
  const Dialect& dialect;
  std::vector<std::uint8_t> name_of;  // by attribute; kNoName
  OTF2_AttributeRef place_attribute;
  std::uint64_t time_zero;
  static constexpr std::uint8_t kNoName = 255;
};

// What the attributes of an event say.
class Carried {
 public:
  Carried(const Shared& shared, OTF2_AttributeList* list) {
    const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(list);
    for (std::uint32_t i = 0; i < count; ++i) {
      OTF2_AttributeRef ref;
      OTF2_Type type;
      OTF2_AttributeValue value;
      if (OTF2_AttributeList_GetAttributeByIndex(list, i, &ref, &type, &value) != OTF2_SUCCESS) {
        continue;
      }
      if (ref == shared.place_attribute && type == OTF2_TYPE_SOURCE_CODE_LOCATION) {
        site = CallSiteId{value.sourceCodeLocationRef};
      } else if (ref < shared.name_of.size() && shared.name_of[ref] != Shared::kNoName) {
        const std::uint8_t name = shared.name_of[ref];
        set_[name / 64] |= std::uint64_t{1} << name % 64;
        values_[name] = value.uint64;
        any_ = true;
      }
    }
  }
  bool any() const { return any_; }
  bool has(std::size_t name) const { return any_ && (set_[name / 64] >> name % 64 & 1) != 0; }
  std::uint64_t value(std::size_t name) const { return values_[name]; }
  Seconds seconds(std::size_t name) const { return {std::bit_cast<double>(values_[name])}; }
  CallSiteId site = absent<CallSiteId>();

 private:
  std::uint64_t values_[kMostNames];
  std::uint64_t set_[kMostNames / 64] = {};
  bool any_ = false;
};

// What events right before a LEAVE say of it.
struct Leaving {
  enum class Kind : std::uint8_t { kExit, kCollective, kWindowCollective, kEpoch };
  Kind kind = Kind::kExit;
  PeerId root{};
  CommId comm{};
  WindowId window{};
  Bytes sent{}, received{};
  Byte ends{};
};

// The records of one location that have been read and not yet been written.
class Stream {
 public:
  Stream(const Shared& shared, std::uint32_t number)
      : shared_(shared),
        number_(number),
        lid_(shared.numbers.lid(number)),
        process_(shared.numbers.process(number)) {}

  bool empty() const { return next_ == items_.size(); }
  Place first() const { return items_[next_].place; }
  void clear() {
    items_.clear();
    bytes_.clear();
    next_ = 0;
  }
  // The first one goes into the trace.
  void pop(TraceWriter& out) {
    const Item& item = items_[next_++];
    const auto room = out.room(item.size);
    std::memcpy(room.data(), bytes_.data() + item.at, item.size);
    out.used(item.size);
  }

  // `standard`: the record that the event says, unless attributes say that it is of another type.
  template <class F>
  void take(OTF2_TimeStamp tick, OTF2_AttributeList* list, F&& standard) {
    const Carried carried(shared_, list);
    const bool placed = carried.has(CarriedNames::kLocation);
    // Without a location the tick is the event's own.
    const std::uint64_t other =
        carried.has(CarriedNames::kTick) ? carried.value(CarriedNames::kTick) : tick;
    tick_ = placed ? tick : other;
    start_ = bytes_.size();
    add_attributes(carried);
    if (carried.has(CarriedNames::kRecord)) {
      add_any(static_cast<std::uint8_t>(carried.value(CarriedNames::kRecord)), carried);
    } else {
      standard(carried);
    }
    if (!added_) {
      bytes_.resize(start_);
      return;
    }
    added_ = false;
    Place place{tick_, number_, 0};
    if (placed) {
      place = {other, static_cast<std::uint32_t>(carried.value(CarriedNames::kLocation)),
               static_cast<std::uint32_t>(carried.value(CarriedNames::kNumber))};
    }
    items_.push_back({place, start_, bytes_.size() - start_});
  }
  // An event of that type of which nothing is known but attributes.
  void add_any(std::uint8_t type, const Carried& carried) {
    dispatch_record(type, [&]<class R>() {
      if constexpr (R::kKind == RecordKind::kEvent) {
        const R record = of_parameter<R>(operations_, process_);
        add(record, carried, assumed_location(record, operations_, lid_));
      }
    });
  }
  // An event; attributes say what differs from it.
  template <class R>
  void add(const R& record, const Carried& carried) {
    add(record, carried, lid_);
  }
  template <class R>
  void add(R record, const Carried& carried, LocationId location) {
    const CarriedNames& names = CarriedNames::get();
    if (carried.any()) {
      visit_fields(record, Dialect{},
                   carried_fields(static_cast<std::uint8_t>(R::kType),
                                  [&]<class T>(std::size_t name, T& value) {
                                    if (!carried.has(name)) return;
                                    if constexpr (kIsTime<T>) {
                                      value = T{carried.seconds(name).value};
                                    } else {
                                      value = static_cast<T>(carried.value(name));
                                    }
                                  }));
    }
    record.lid = carried.has(names.lid()) ? LocationId(carried.value(names.lid())) : location;
    record.time =
        carried.has(names.time())
            ? carried.seconds(names.time())
            : Seconds{static_cast<double>(static_cast<std::int64_t>(tick_ - shared_.time_zero)) /
                      kTicksPerSecond};
    if constexpr (requires { record.metv; }) {
      if (shared_.dialect.metrics != 0) {
        metrics_.resize(shared_.dialect.metrics);
        record.metv = MetricValues::of(metrics_);
      }
    }
    put(record);
    added_ = true;
  }
  template <class R>
  void put(const R& record) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + kMaxRecord);
    bytes_.resize(at + encode(record, shared_.dialect, bytes_.data() + at));
  }
  LocationId lid() const { return lid_; }
  LatestOperations& operations() { return operations_; }
  ProcessId process() const { return process_; }
  const Numbers& numbers() const { return shared_.numbers; }
  // What the next exit is, if it is more than one.
  Leaving& leaving() { return leaving_; }
  const Definitions& definitions() const { return shared_.definitions; }
  std::vector<std::uint64_t>& metrics() { return metrics_; }
  CommId comm(OTF2_CommRef ref) const { return shared_.numbers.comm_of(ref); }
  // The process of a number in a communicator; of an intercommunicator on the other side.
  PeerId peer(OTF2_CommRef ref, std::uint32_t rank) const {
    return peer(shared_.numbers.comm_of(ref), rank);
  }
  PeerId window_peer(OTF2_RmaWinRef window, std::uint32_t rank) const {
    const WindowDef* const def = definitions().windows.find(WindowId{window});
    return def == nullptr ? absent<PeerId>() : peer(def->comm, rank);
  }
  PeerId peer(CommId id, std::uint32_t rank) const {
    const CommDef* const comm = definitions().comms.find(id);
    if (comm == nullptr) return absent<PeerId>();
    const RankList& ranks =
        comm->intercommunicator && !comm->remote.empty() ? comm->remote : comm->ranks;
    return rank < ranks.size() ? PeerId{ranks[rank]} : absent<PeerId>();
  }

 private:
  struct Item {
    Place place;
    std::size_t at, size;
  };
  void add_attributes(const Carried& carried) {
    if (!carried.any()) return;
    for (std::uint8_t kind = 1; kind <= CarriedNames::kKinds; ++kind) {
      const auto put_if = [&](auto record) {
        const std::size_t name =
            CarriedNames::attribute(static_cast<std::uint8_t>(record.kType), kind);
        if (!carried.has(name)) return;
        record.kind = Byte{kind};
        record.value = static_cast<decltype(record.value)>(carried.value(name));
        put(record);
      };
      put_if(AttrUi1{});
      put_if(AttrUi4{});
      put_if(AttrUi8{});
    }
  }

  const Shared& shared_;
  std::uint32_t number_;
  LocationId lid_;
  ProcessId process_;
  Leaving leaving_;
  LatestOperations operations_;
  std::vector<std::byte> bytes_;
  std::vector<Item> items_;
  std::size_t next_ = 0;
  std::vector<std::uint64_t> metrics_;  // of the event that follows
  OTF2_TimeStamp tick_ = 0;
  std::size_t start_ = 0;
  bool added_ = false;
};

}  // namespace kojak::otf2

// How records of a trace travel in an OTF2 archive beside OTF2's own records, so that they come
// back.
//
// An event of OTF2 stands for a record with the fields that it says. A field that it does not say,
// or says differently, is an attribute named after the field. Where OTF2's event stands for a
// record of another type than is usual, or for none, the attribute EPILOG::record is its type or 0.
// What OTF2 has no event for is a parameter of that name, its value the record's type. Attribute
// records before an event are attributes EPILOG::ATTR_UI4.2 and so on, by type and kind. The
// definitions travel as the text that elg_print prints of them, in properties of the machine; what
// is wrong with the trace is another one, a line each. elg2otf2 writes this, otf2elg reads it.
//
// What a put or get said is assumed of its end, too, if it is among the latest of its location
// (LatestOperations).
//
// Order: events of all locations are put in the order of their times in ticks, at equal times in
// the order of the locations. An event that stood elsewhere in the trace has its place as
// attributes: location and number, and the tick if it is not its own. An event that OTF2 wants
// earlier than it stood (the request of a lock) has its tick alone. Pure functions and constant
// data; any thread.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "epilog/format/record/plain_fields.h"

namespace kojak::otf2 {

inline constexpr std::string_view kOwnCreator = "kojak elg2otf2";
inline constexpr std::string_view kCarriedPrefix = "EPILOG::";
inline constexpr const char* kDefinitionsProperty = "EPILOG::definitions::";  // and a number
inline constexpr const char* kTimeZeroProperty = "EPILOG::time_zero";         // the tick of time 0
inline constexpr const char* kFaultsProperty = "EPILOG::faults";              // of a damaged trace
inline constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;

// Where an event stands among those of all locations; in this order.
struct Place {
  std::uint64_t tick = 0;
  std::uint32_t location = 0;  // number of the location in the archive
  std::uint32_t number = 0;    // among those that stand there by attributes
  auto operator<=>(const Place&) const = default;
};

// What an attribute is about.
class CarriedNames {
 public:
  static constexpr std::size_t kRecord = 0, kTick = 1, kLocation = 2, kNumber = 3, kAttributes = 4;
  static constexpr std::uint8_t kKinds = raw(kLastAttribute);  // of attribute records, from 1
  static constexpr std::size_t kFields = kAttributes + 3 * std::size_t{kKinds};
  static const CarriedNames& get();

  // All of them, by number.
  const std::vector<std::string>& all() const { return names_; }
  bool is_time(std::size_t name) const { return times_[name]; }
  std::size_t lid() const { return lid_; }
  std::size_t time() const { return time_; }
  // Of the fields of an event, in the order in which visit_fields() visits them.
  const std::vector<std::uint8_t>& of(std::uint8_t type) const { return of_type_[type]; }
  // Of an attribute record; 0 if its type or kind is not known.
  static constexpr std::size_t attribute(std::uint8_t type, std::uint8_t kind) {
    if (type < 60 || type > 62 || kind == 0 || kind > kKinds) return 0;
    return kAttributes + (type - 60u) * kKinds + (kind - 1u);
  }
  // The request of a non-blocking message.
  static constexpr std::size_t request() { return attribute(61, raw(kAttrRequest)); }

  CarriedNames() : names_{"record", "order.tick", "order.location", "order.number"} {
    for (std::uint8_t type = 60; type <= 62; ++type) {
      for (std::uint8_t kind = 1; kind <= kKinds; ++kind) {
        names_.push_back(std::string(record_name(type)) + "." + std::to_string(kind));
      }
    }
    times_.resize(names_.size());
    for (unsigned type = 100; type < 256; ++type) {
      dispatch_record(static_cast<std::uint8_t>(type), [&]<class R>() {
        R record;
        visit_fields(record, Dialect{}, PlainFields([&]<class T>(const FieldInfo& info, T&) {
                       of_type_[type].push_back(static_cast<std::uint8_t>(number<T>(info.name)));
                     }));
      });
    }
  }

 private:
  template <class T>
  std::size_t number(std::string_view field) {
    std::size_t i = kFields;
    while (i < names_.size() && names_[i] != field) ++i;
    if (i != names_.size()) return i;
    names_.emplace_back(field);
    times_.push_back(kIsTime<T>);
    if (field == "lid") lid_ = i;
    if (field == "time") time_ = i;
    return i;
  }

  std::vector<std::string> names_;
  std::vector<bool> times_;
  std::array<std::vector<std::uint8_t>, 256> of_type_;
  std::size_t lid_ = 0, time_ = 0;
};

inline const CarriedNames kCarriedNames;
inline const CarriedNames& CarriedNames::get() {
  return kCarriedNames;
}

// Gives f(name, value) for each field of an event that attributes carry, in the order of its type;
// location and time stand in OTF2's own records. For visit_fields().
template <class F>
auto carried_fields(std::uint8_t type, F f) {
  const CarriedNames& all = CarriedNames::get();
  return PlainFields([&all, &names = all.of(type), f = std::move(f), next = std::size_t{0}](
                         const FieldInfo&, auto& value) mutable {
    const std::size_t name = names[next++];
    if (name != all.lid() && name != all.time()) f(name, value);
  });
}

// The puts and gets that a location issued last, one for each remainder of their numbers. Writer
// and reader keep the same ones.
class LatestOperations {
 public:
  struct Operation {
    RmaId number = absent<RmaId>();
    WindowId window = absent<WindowId>();
    PeerId target = absent<PeerId>();
    Bytes bytes = absent<Bytes>();
    bool get = false;
  };
  void add(const Operation& operation) {
    latest_ = index(operation.number);
    operations_[latest_] = operation;
  }
  const Operation& latest() const { return operations_[latest_]; }
  // Null if it is not known (any more).
  const Operation* find(RmaId number, WindowId window, bool get) const {
    const Operation& operation = operations_[index(number)];
    return operation.number == number && operation.window == window && operation.get == get
               ? &operation
               : nullptr;
  }

 private:
  static constexpr std::size_t kKept = 512;
  static std::size_t index(RmaId number) { return raw(number) % kKept; }
  std::vector<Operation> operations_ = std::vector<Operation>(kKept);
  std::size_t latest_ = 0;
};

// What is assumed of the end of a put (null: it is not known), and of a get, on a location.
inline MpiPut1te assumed_end(const LatestOperations::Operation* put, ProcessId process,
                             WindowId window, RmaId number) {
  return {{},     {},     PeerId{raw(process)},
          window, number, put == nullptr ? absent<Bytes>() : put->bytes};
}
inline MpiGet1te assumed_end(const LatestOperations::Operation& get) {
  return {{}, {}, get.target, get.window, get.number, get.bytes};
}

// What is assumed of the data's start of the latest get.
inline MpiGet1ts assumed_start(const LatestOperations& operations, ProcessId process) {
  MpiGet1ts start{};
  const LatestOperations::Operation& get = operations.latest();
  if (get.get) {
    start.wid = get.window;
    start.rmaid = get.number;
    start.sent = get.bytes;
  }
  start.dlid = PeerId{raw(process)};
  return start;
}

// What is assumed of a record that is a parameter.
template <class R>
R of_parameter([[maybe_unused]] const LatestOperations& operations,
               [[maybe_unused]] ProcessId process) {
  if constexpr (std::is_same_v<R, MpiGet1ts>) {
    return assumed_start(operations, process);
  } else {
    return R{};
  }
}

// The location that is assumed of a record on location `here`.
template <class R>
LocationId assumed_location(const R&, const LatestOperations& operations, LocationId here) {
  const bool after_get = std::is_same_v<R, MpiGet1ts> && operations.latest().get;
  return after_get ? LocationId{raw(operations.latest().target)} : here;
}

// A field's value as an attribute has it.
template <class T>
std::uint64_t carried_bits(const T& value) {
  if constexpr (kIsTime<T>) {
    return std::bit_cast<std::uint64_t>(value.value);
  } else {
    return raw(value);
  }
}

}  // namespace kojak::otf2

// What a record of a local trace means to whoever follows the regions of its location and the
// windows of its process: one table, and one walk, for all readings of a merge.
//
// walk() calls what the visitor has for the record's step:
//   enter(id, call_site)  a region, or the region of a call site, in the trace's own numbers;
//                         absent where the record is too short
//   pause()               recording is switched off
//   open()                events are written to the file; like a pause, it opens what is no region
//   sync(record, dialect)  what decode_sync() reads; before leave() where it leaves, too
//   leave()               whatever was opened last ends
//   assertion(bits)       of the call that is open
//   context(record, dialect)  what decode_context() reads; only of visitors that have it
// What else a record says is the reading's own matter. Pure, no allocation.
#pragma once

#include <array>
#include <cstring>

#include "epilog/format/epoch_moves.h"
#include "epilog/format/record/codec.h"
#include "merge/complete/transfer_ends.h"
#include "merge/define/definitions.h"

namespace kojak::merge {

enum class Step : std::uint8_t {
  kUnknown,  // no record of this format
  kDefinition,
  kAttribute,
  kPlain,  // the first event
  kEnter,
  kPause,
  kOpen,
  kClose,  // leaves what kPause or kOpen opened
  kSync,   // may move a window's state
  kAssert,
  kExit,         // leaves a region
  kSyncExit,     // both
  kCall,         // enters and leaves in one record
  kContext,      // of a context of SHMEM
  kContextCall,  // both
};

namespace detail {
constexpr Step step_of_event(std::uint8_t type) {
  switch (static_cast<RecordType>(type)) {
    case RecordType::kLogOff:
      return Step::kPause;
    case RecordType::kEnterTracing:
      return Step::kOpen;
    case RecordType::kLogOn:
    case RecordType::kExitTracing:
      return Step::kClose;
    case RecordType::kMpiAssert:
      return Step::kAssert;
    case RecordType::kShmemPlace:
    case RecordType::kShmemQuiet:
    case RecordType::kPut1teRemote:
      return Step::kContext;
    case RecordType::kShmemRmaCall:
      return Step::kContextCall;
    default:
      break;
  }
  bool moves = false;
  dispatch_record(type, [&]<class R>() { moves = kMovesEpoch<R>; });
  switch (region_effect(type)) {
    case RegionEffect::kEnters:
      return Step::kEnter;
    case RegionEffect::kLeaves:
      return moves ? Step::kSyncExit : Step::kExit;
    case RegionEffect::kEntersAndLeaves:
      return Step::kCall;
    case RegionEffect::kNone:
      break;
  }
  return moves ? Step::kSync : Step::kPlain;
}
inline constexpr std::array<Step, 256> kSteps = [] {
  std::array<Step, 256> steps{};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto type = static_cast<std::uint8_t>(i);
    const bool known = dispatch_record(type, []<class R>() {});
    steps[i] = is_definition(type)  ? Step::kDefinition
               : is_attribute(type) ? Step::kAttribute
               : known              ? step_of_event(type)
                                    : Step::kUnknown;
  }
  return steps;
}();
}  // namespace detail

constexpr Step step_of(std::uint8_t type) {
  return detail::kSteps[type];
}
constexpr bool is_event_step(Step step) {
  return step >= Step::kPlain;
}

template <class Visitor>
[[gnu::always_inline]] inline void walk(Step step, const RawRecord& record, const Dialect& dialect,
                                        Visitor& visitor) {
  switch (step) {
    case Step::kEnter: {
      std::uint32_t id = kAbsent;
      if (record.length >= 16) std::memcpy(&id, record.body + 12, 4);
      if (dialect.swapped()) id = byte_swapped(id);
      visitor.enter(id, record.type == type_of(RecordType::kEnterCs));
      break;
    }
    case Step::kPause:
      visitor.pause();
      break;
    case Step::kOpen:
      visitor.open();
      break;
    case Step::kSyncExit:
      visitor.sync(record, dialect);
      visitor.leave();
      break;
    case Step::kSync:
      visitor.sync(record, dialect);
      break;
    case Step::kExit:
    case Step::kClose:
      visitor.leave();
      break;
    case Step::kAssert: {
      MpiAssert assertion;
      if (decode(record, dialect, assertion) == nullptr)
        visitor.assertion(raw(assertion.assertion));
      break;
    }
    case Step::kContext:
    case Step::kContextCall:
      if constexpr (requires { visitor.context(record, dialect); }) {
        visitor.context(record, dialect);
      }
      break;
    default:
      break;
  }
}

// The merged region that an enter record opens, from what enter() got; absent if it is unknown.
inline std::uint32_t entered_region(const Translation& translation,
                                    const MergedDefinitions& definitions, std::uint32_t id,
                                    bool call_site) {
  if (!call_site) return translation.regions[id];
  const std::uint32_t site = translation.call_sites[id];
  return site != kAbsent ? raw(definitions.call_sites[site].entered) : kAbsent;
}

}  // namespace kojak::merge

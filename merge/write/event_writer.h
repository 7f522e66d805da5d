// Writes events of local traces as events of the merged one: identifiers, counters, attributes.
//
// Part of pass 2; knows nothing of epochs. Owns the emitter. Findings go into the summary as they
// come. References must outlive it.
#pragma once

#include <vector>

#include "merge/clock/stream.h"
#include "merge/define/translate.h"
#include "merge/write/emitter.h"
#include "merge/write/engine.h"

namespace kojak::merge {

template <bool Plain>
class EventWriter {
 public:
  EventWriter(const EngineInputs& in, TraceWriter& writer, Summary& summary)
      : in_(in),
        summary_(summary),
        emitter_(writer),
        processes_(in.traces.front().run_size),
        out_metrics_(writer.dialect().metrics) {
    for (const RegionDef& region : in.survey.definitions.regions) roles_.push_back(region.role());
  }

  const Dialect& dialect_of(const Stream& s) const {
    static constexpr Dialect kPlain{};
    if constexpr (Plain) {
      return kPlain;
    } else {
      return s.dialect;
    }
  }
  template <class R>
  [[gnu::always_inline]] bool read(Stream& s, R& r) {
    const char* failed;
    if constexpr (Plain) {
      constexpr Dialect kPlain{};
      failed = decode(s.raw_record(), kPlain, r);
    } else {
      failed = decode(s.raw_record(), s.dialect, r);
    }
    if (failed != nullptr) [[unlikely]] {
      ++s.too_short;
      return false;
    }
    r.lid = LocationId{s.lid};
    r.time = Seconds{s.time};
    return true;
  }
  // Hardware counters in the order of the merged trace; where they were not read the last ones are
  // repeated. `at_exit`: of a whole-call record.
  template <class R>
  void count_metrics(Stream& s, R& r, bool at_exit = false) {
    if constexpr (!Plain) {
      if (s.translation->local_metrics != 0 && s.attributes != nullptr) note_metrics(s, at_exit);
      for (std::uint32_t i = 0; i < r.metv.size(); ++i) {
        const std::uint32_t merged = s.translation->metrics[i];
        if (merged < out_metrics_) s.metrics[merged] = r.metv[i];
      }
      r.metv = MetricValues::of(s.metrics);
    }
  }
  // Enters a region, named as the local trace names it, or the call site that stands for it. How
  // many functions that led to it are entered, too.
  [[gnu::always_inline]] std::size_t put_enter(Stream& s, Enter& enter, std::uint32_t local) {
    count_metrics(s, enter);
    const std::uint32_t site = s.translation->sites[local];
    if (site == kAbsent) {
      copy_attributes(s);
      emitter_.put(enter);
      return 0;
    }
    return put_site(s, EnterCs{enter.lid, enter.time, CallSiteId{site}, enter.metv});
  }
  // Enters the region of a record for a whole call, and gives its merged number.
  template <class WholeCall>
  [[gnu::always_inline]] std::uint32_t enter_call(Stream& s, const WholeCall& call) {
    const std::uint32_t region =
        translated(s, s.translation->regions[raw(call.rid)], raw(call.rid));
    Enter enter{call.lid, call.time, RegionId{region}, {}};
    s.callers_in_call = put_enter(s, enter, raw(call.rid));
    s.inside_call = true;
    return region;
  }
  // Leaves what enter_call() has entered.
  [[gnu::always_inline]] void leave_call(Stream& s) {
    Exit exit{LocationId{s.lid}, Seconds{s.time}, {}};
    count_metrics(s, exit, true);
    emitter_.put(exit);
    leave_callers(s, s.callers_in_call, exit.metv);
  }
  std::size_t put_site(Stream& s, const EnterCs& enter) {
    std::size_t callers = 0;
    if constexpr (!Plain) {
      if (!emitter_.native()) callers = put_callers(enter);
    }
    copy_attributes(s);
    emitter_.put(enter);
    return callers;
  }
  // A classic file has no record of call paths: the functions on the way are entered themselves.
  std::size_t put_callers(const EnterCs& enter) {
    const std::vector<CallSiteDef>& sites = in_.survey.definitions.call_sites;
    std::vector<std::uint32_t> path;
    for (std::uint32_t at = raw(enter.csid); at != kAbsent && !is_absent(sites[at].caller);) {
      at = raw(sites[at].caller);
      path.push_back(at);
    }
    for (std::size_t i = path.size(); i-- != 0;) {
      emitter_.make_room();
      emitter_.put(EnterCs{enter.lid, enter.time, CallSiteId{path[i]}, enter.metv});
    }
    emitter_.make_room();
    return path.size();
  }
  void leave_callers(Stream& s, std::size_t callers, MetricValues metrics) {
    for (; callers != 0; --callers) {
      emitter_.make_room();
      emitter_.put(Exit{LocationId{s.lid}, Seconds{s.time}, metrics});
    }
  }
  std::uint32_t window_of(Stream& s, WindowId id) {
    return translated(s, s.translation->windows[raw(id)], raw(id));
  }
  std::uint32_t translated(Stream& s, std::uint32_t merged, std::uint32_t id) {
    if (merged == kAbsent && id != kAbsent) [[unlikely]]
      unknown_id(s);
    return merged;
  }
  [[gnu::cold, gnu::noinline]] void unknown_id(Stream& s) {
    summary_.add(Finding::kUnknownId, 1, [&] {
      return s.trace->path + ": offset " + std::to_string(s.position()) + ": " +
             std::string(record_name(s.type));
    });
  }
  [[gnu::cold, gnu::noinline]] void bad_peer(Stream& s) {
    summary_.add(Finding::kBadPeer, 1, [&] {
      return s.trace->path + ": offset " + std::to_string(s.position()) + ": " +
             std::string(record_name(s.type));
    });
  }
  bool good_peer(Stream& s, PeerId peer) {
    if (raw(peer) < processes_) [[likely]]
      return true;
    bad_peer(s);
    return false;
  }

  // The values that stand before the current record.
  void note_metrics(Stream& s, bool at_exit) {
    const std::uint32_t count = s.translation->local_metrics;
    const std::uint32_t first = at_exit ? count : 0;
    for (const std::byte* p = s.attributes; p < s.record;
         p += std::size_t{2} + static_cast<std::uint8_t>(p[0])) {
      const RawRecord attribute{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                                p + 2, 0};
      AttrMetrics r;
      if (attribute.type != type_of(RecordType::kAttrMetrics) ||
          decode(attribute, s.dialect, r) != nullptr) {
        continue;
      }
      for (std::uint32_t i = 0; i < count && first + i < r.values.size(); ++i) {
        const std::uint32_t merged = s.translation->metrics[i];
        if (merged < out_metrics_) s.metrics[merged] = r.values[first + i];
      }
    }
  }

  void copy_attributes(Stream& s) {
    if (s.attributes != nullptr) [[unlikely]]
      copy_attributes_slow(s);
  }
  void copy_attributes_slow(Stream& s) {
    for (const std::byte* p = s.attributes; p < s.record;) {
      const RawRecord attribute{static_cast<std::uint8_t>(p[1]), static_cast<std::uint8_t>(p[0]),
                                p + 2, 0};
      const std::size_t size = std::size_t{2} + attribute.length;
      if (is_attribute(attribute.type)) {
        emitter_.make_room();
        copy_attribute(s, attribute, p, size);
      }
      p += size;
    }
    emitter_.make_room();
  }
  void copy_attribute(Stream& s, const RawRecord& attribute, const std::byte* p, std::size_t size) {
    AttrUi4 value;
    if (attribute.type == type_of(RecordType::kAttrMetrics)) return;  // in the event itself
    if (!emitter_.native()) return leave_out_attribute(s, attribute);
    if (attribute.type == type_of(RecordType::kAttrUi4) &&
        decode(attribute, s.dialect, value) == nullptr) {
      if (value.kind == kAttrRegion) {
        value.value =
            Count{translated(s, s.translation->regions[raw(value.value)], raw(value.value))};
      }
      emitter_.put_attribute(value);
    } else {
      bool whole = true;
      dispatch_record(attribute.type, [&]<class R>() {
        if constexpr (R::kKind == RecordKind::kAttribute) {
          R r;
          whole = decode(attribute, s.dialect, r) == nullptr;
          if (whole && s.dialect.swapped()) emitter_.put_attribute(r);
        }
      });
      if (!whole) {
        ++s.too_short;
      } else if (!s.dialect.swapped()) {
        emitter_.put_raw(p, size);
      }
    }
  }

  // Classic files have no attributes. A byte count of 64 bits cannot be told otherwise, but that of
  // a receive, which they do not tell at all, may go.
  void leave_out_attribute(Stream& s, const RawRecord& attribute) {
    emitter_.leave_out(attribute.type);
    std::uint64_t bytes;
    if (byte_attribute(attribute, s.dialect, kAttrBytesSent, bytes) ||
        (s.type != type_of(RecordType::kMpiRecv) &&
         byte_attribute(attribute, s.dialect, kAttrBytesReceived, bytes))) {
      refuse(s);
    }
  }
  // What stands in a start for its byte count.
  Bytes sent_field(Stream& s, std::uint64_t bytes) {
    if (!Plain && bytes >= kAbsent && !emitter_.native()) refuse(s);
    return emitter_.bytes_field(raw(kAttrBytesSent), bytes);
  }
  // The trace holds a byte count that the output cannot express.
  void refuse(const Stream& s) {
    if (refused_ == nullptr) refused_ = s.trace;
  }

  MpiRole role(const Stream& s) const {
    return s.stack.empty() ? MpiRole::kOther : role_of(s.stack.back());
  }
  // Any event without a part in the transfers: translated field by field.
  template <class R>
  void translate(Stream& s) {
    R r;
    if (!read(s, r)) return;
    if constexpr (requires { r.metv; }) count_metrics(s, r);
    Translator translator(*s.translation, processes_);
    visit_fields(r, dialect_of(s), translator);
    if (translator.unknown()) unknown_id(s);
    if (translator.bad_peer()) bad_peer(s);
    copy_attributes(s);
    emitter_.put(r);
  }

  Emitter<Plain>& emitter() { return emitter_; }
  std::uint32_t processes() const { return processes_; }
  std::uint32_t out_metrics() const { return out_metrics_; }
  // The role of a merged region, or of none.
  MpiRole role_of(std::uint32_t region) const {
    return region < roles_.size() ? roles_[region] : MpiRole::kOther;
  }
  // A trace whose counts the output cannot express, or null.
  const LocalTrace* refused() const { return refused_; }

 private:
  const EngineInputs& in_;
  Summary& summary_;
  Emitter<Plain> emitter_;
  std::uint32_t processes_;
  std::uint32_t out_metrics_;
  std::vector<MpiRole> roles_;  // of merged regions
  const LocalTrace* refused_ = nullptr;
};

}  // namespace kojak::merge

#include "earl/trace.h"

#include <algorithm>
#include <span>

#include "earl/event_loop.h"
#include "epilog/format/check/trace_gaps.h"

namespace kojak::earl {
namespace {

// World ranks far above the number of locations are damage: per-process tables follow them.
std::uint64_t rank_limit(std::size_t locations) {
  return std::max<std::uint64_t>(65536, 64 * std::uint64_t{locations});
}

}  // namespace

Trace::Trace(TraceReader reader)
    : reader_(std::move(reader)), definitions_(std::make_unique<Definitions>()) {}

Result<Trace> Trace::open(const std::string& path) {
  auto reader = TraceReader::open(path);
  if (!reader) return reader.error();
  Trace trace(std::move(*reader));
  if (Status status = trace.read_definitions(); !status) return status.error();
  return trace;
}

Result<Trace> Trace::from(std::unique_ptr<ByteSource> source, std::string name) {
  auto reader = TraceReader::from(std::move(source), std::move(name));
  if (!reader) return reader.error();
  Trace trace(std::move(*reader));
  if (Status status = trace.read_definitions(); !status) return status.error();
  return trace;
}

Status Trace::read_definitions() {
  RawRecord record;
  while (!definitions_->last_def) {
    const TraceReader::Next next = reader_.next(record);
    if (next != TraceReader::Next::kRecord) {
      return ends_in_definitions(reader_, next == TraceReader::Next::kDamaged);
    }
    if (!is_definition(record.type)) {
      return Error{ExitCode::kBadInput,
                   path(),
                   reader_.place(record.offset),
                   std::string(record_name(record.type)),
                   "",
                   "events begin before the definitions have ended: this is no merged trace",
                   "merge the run with elg_merge; local archives of the classic tools need theirs"};
    }
    if (record_name(record.type).empty()) {
      findings_.add(Finding::kUnknownRecord, reader_.place(record.offset));
    } else if (!definitions_->add(record, reader_.dialect())) {
      findings_.add(Finding::kBadDefinition, reader_.place(record.offset));
    }
    if (definitions_->local_run) {
      return Error{ExitCode::kBadInput,
                   path(),
                   reader_.place(record.offset),
                   "LOCAL_RUN",
                   "",
                   "this is the local trace of one process",
                   "merge the run first: elg_merge DIRECTORY"};
    }
  }
  definitions_->finish();
  index_locations();
  add_regions();
  return {};
}

void Trace::index_locations() {
  const std::uint64_t limit = rank_limit(definitions_->locations.size());
  definitions_->locations.for_each([&](LocationId id, const LocationDef& def) {
    if (raw(def.process) >= limit) {
      findings_.add(Finding::kBadDefinition, 0, id);
      return;
    }
    if (raw(id) == locations_.size() && raw(id) == dense_) ++dense_;
    locations_.push_back(id);
    location_defs_.push_back(def);
    const NodeDef* node = definitions_->nodes.find(def.node);
    const bool known = node != nullptr && node->clock_error.has_value();
    node_error_.push_back(known ? node->clock_error->value : 0);
    has_clock_errors_ = has_clock_errors_ || (known && node->clock_error->value > 0);
    processes_ = std::max(processes_, raw(def.process) + 1);
  });
  Seconds first, second;
  definitions_->nodes.for_each([&](NodeId, const NodeDef& node) {
    if (!node.clock_error) return;
    second = std::max(second, std::min(first, *node.clock_error));
    first = std::max(first, *node.clock_error);
  });
  max_delta_ = first + second;
  // The lowest thread of a process stands for it.
  main_index_.assign(processes_, kAbsent);
  for (std::uint32_t i = 0; i < locations_.size(); ++i) {
    std::uint32_t& main = main_index_[raw(location_defs_[i].process)];
    if (main == kAbsent || raw(location_defs_[i].thread) < raw(location_defs_[main].thread)) {
      main = i;
    }
  }
}

void Trace::add_regions() {
  tracing_ = pausing_ = unknown_ = absent<RegionId>();
  std::uint32_t next = 0;
  definitions_->regions.for_each([&](RegionId id, const RegionDef& region) {
    if (region.is_tracing() && is_absent(tracing_)) tracing_ = id;
    if (region.is_pausing() && is_absent(pausing_)) pausing_ = id;
    if (raw(id) == next) ++next;
  });
  const auto add = [&](RegionId& id, const char* name) {
    if (!is_absent(id)) return;
    while (definitions_->regions.find(static_cast<RegionId>(next)) != nullptr) ++next;
    id = static_cast<RegionId>(next);
    RegionDef region;
    region.name = name;
    definitions_->regions.set(id, std::move(region));
  };
  add(tracing_, "TRACING");
  add(pausing_, "PAUSING");
  add(unknown_, "UNKNOWN");
}

std::uint32_t Trace::find_index(std::uint32_t id) const {
  const auto it = std::lower_bound(locations_.begin(), locations_.end(), id,
                                   [](LocationId a, std::uint32_t b) { return raw(a) < b; });
  if (it == locations_.end() || raw(*it) != id) return kAbsent;
  return static_cast<std::uint32_t>(it - locations_.begin());
}

std::uint32_t Trace::main_index(ProcessId process) const {
  return raw(process) < main_index_.size() ? main_index_[raw(process)] : kAbsent;
}

Seconds Trace::delta(std::uint32_t index_a, std::uint32_t index_b) const {
  if (!has_clock_errors_ || index_a >= location_defs_.size() || index_b >= location_defs_.size()) {
    return {};
  }
  if (location_defs_[index_a].node == location_defs_[index_b].node) return {};
  return {node_error_[index_a] + node_error_[index_b]};
}

Seconds Trace::delta(ProcessId a, ProcessId b) const {
  if (!has_clock_errors_) return {};
  return delta(main_index(a), main_index(b));
}

bool Trace::other_record(const RawRecord& record, Attributes& attributes, std::uint64_t pos) {
  if (is_definition(record.type)) return false;  // the reader tells of it at the end
  const Dialect& dialect = reader_.dialect();
  if (record.type == static_cast<std::uint8_t>(RecordType::kAttrUi8)) {
    AttrUi8 attribute;
    if (decode(record, dialect, attribute) == nullptr) {
      const auto value = static_cast<Bytes64>(raw(attribute.value));
      if (attribute.kind == kAttrBytesSent) attributes.sent = value;
      if (attribute.kind == kAttrBytesReceived) attributes.recvd = value;
      return true;
    }
  } else if (record.type == static_cast<std::uint8_t>(RecordType::kAttrUi1)) {
    AttrUi1 attribute;
    if (decode(record, dialect, attribute) == nullptr) {
      if (attribute.kind == kAttrCollectiveFlags) {
        attributes.collective_flags = raw(attribute.value);
        return true;
      }
      if (attribute.kind != kAttrAnyness) return false;  // nothing that EARL needs
      attributes.from_any = raw(attribute.value) != 0;
      return true;
    }
  } else if (record.type != static_cast<std::uint8_t>(RecordType::kAttrUi4)) {
    findings_.add(Finding::kUnknownRecord, pos);
    return false;
  }
  findings_.add(Finding::kShortRecord, pos);
  return false;
}

std::optional<Seconds> Trace::next_time() {
  std::span<const std::byte> bytes = reader_.ahead();
  while (bytes.size() >= 2) {
    const auto length = static_cast<std::uint8_t>(bytes[0]);
    const auto type = static_cast<std::uint8_t>(bytes[1]);
    const std::size_t size = std::size_t{2} + length;
    if (bytes.size() < size) break;
    std::optional<Seconds> time;
    detail::dispatch_event(type, [&]<class R>() {
      R record;
      const RawRecord raw{type, length, bytes.data() + 2, 0};
      if (decode(raw, reader_.dialect(), record) == nullptr) time = record.time;
    });
    if (time) {
      detail::keep_within_bounds(*time);
      return time;
    }
    bytes = bytes.subspan(size);
  }
  return std::nullopt;
}

void Trace::finish(bool damaged) {
  if (damaged) damage_ = reader_.error();
}

}  // namespace kojak::earl

#include "epilog/format/definitions.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "epilog/format/field_values.h"
#include "epilog/format/record/plain_fields.h"
#include "epilog/format/record/references.h"

namespace kojak {
namespace {

// Groups of all processes give their number only. More than any machine has, in all of them
// together, is damage and not a reason to allocate.
constexpr std::uint64_t kMaxExpanded = 1u << 24;

// The last name counts.
template <class Object>
void rename(Object& object, std::string_view name, Count given) {
  if (raw(given) < object.name_given) return;
  object.name = name;
  object.name_given = raw(given);
}

// ---- what a record says, that needs no other before it

void note(Definitions& d, const Machine& r) {
  d.machines.set(r.mid, {std::string(d.string(r.mnid)), raw(r.nodec)});
}
void note(Definitions& d, const Node& r) {
  d.nodes.set(r.nid, {std::string(d.string(r.nnid)), r.mid, raw(r.cpuc), r.cr, std::nullopt});
}
void note(Definitions& d, const Process& r) {
  d.process_names[r.pid] = d.string(r.pnid);
}
void note(Definitions& d, const Thread& r) {
  d.thread_names[{r.pid, r.tid}] = d.string(r.tnid);
}
void note(Definitions& d, const Location& r) {
  d.locations.set(r.lid, {r.mid, r.nid, r.pid, r.tid});
}
void note(Definitions& d, const File& r) {
  d.files.set(r.fid, std::string(d.string(r.fnid)));
}
void note(Definitions& d, const Region& r) {
  RegionDef region;
  region.name = d.string(r.rnid);
  if (const std::string* file = d.files.find(r.fid)) region.file = *file;
  region.description = d.string(r.rdid);
  region.begin = r.begln;
  region.end = r.endln;
  region.type = raw(r.rtype);
  region.function = find_mpi_function(region.name);
  if (region.function == nullptr) region.shmem = find_shmem_function(region.name);
  d.regions.set(r.rid, std::move(region));
}
void note(Definitions& d, const MpiCommRef& r) {
  const GroupDef* group = d.groups.find(r.gid);
  CommDef comm;
  comm.ranks = group->ranks;
  comm.group = r.gid;
  d.comms.set(r.cid, std::move(comm));
}
void note(Definitions& d, const CommIdentity& r) {
  CommDef* comm = d.comms.find(r.cid);
  comm->identity_hi = raw(r.hi);
  comm->identity_lo = raw(r.lo);
  comm->identity_known = (raw(r.flags) & kIdentityUnknown) == 0;
  comm->intercommunicator = (raw(r.flags) & kIntercommunicator) != 0;
  comm->foreign_members = (raw(r.flags) & kForeignMembers) != 0;
  comm->stands_for_group = (raw(r.flags) & kStandsForGroup) != 0;
}
void note(Definitions& d, const CommRemote& r) {
  CommDef* comm = d.comms.find(r.cid);
  const GroupDef* group = d.groups.find(r.gid);
  comm->remote = group->ranks;
}
void note(Definitions& d, const MpiWin& r) {
  WindowDef window;
  window.comm = r.cid;
  d.windows.set(r.wid, window);
}
void note(Definitions& d, const WinIdentity& r) {
  WindowDef* window = d.windows.find(r.wid);
  window->identity_hi = raw(r.hi);
  window->identity_lo = raw(r.lo);
  window->identity_known = (raw(r.flags) & kIdentityUnknown) == 0;
  window->flavour = raw(r.flavour);
  window->model = raw(r.model);
}
void note(Definitions& d, const CommName& r) {
  rename(*d.comms.find(r.cid), d.string(r.cnid), r.given);
}
void note(Definitions& d, const WinName& r) {
  rename(*d.windows.find(r.wid), d.string(r.wnid), r.given);
}
void note(Definitions& d, const ShmemLockName& r) {
  const std::string* file = d.files.find(r.fid);
  d.shmem_locks.set(r.lkid, {std::string(d.string(r.lknid)), file != nullptr ? *file : ""});
}
void note(Definitions& d, const CallSite& r) {
  d.call_sites.set(r.csid, {r.fid, r.lno, r.erid, r.lrid, absent<CallSiteId>()});
}
void note(Definitions& d, const CartTopology& r) {
  TopologyDef topology;
  topology.comm = r.cid;
  if (!is_absent(r.topnid)) topology.name = d.string(r.topnid);
  for (std::uint32_t i = 0; i < r.dimv.size(); ++i) topology.size.push_back(r.dimv[i]);
  for (std::uint32_t i = 0; i < r.periodv.size(); ++i)
    topology.periodic.push_back(r.periodv[i] != 0);
  for (std::uint32_t i = 0; i < r.dimnid.size(); ++i) {
    topology.dimension_names.emplace_back(d.string(static_cast<StringId>(r.dimnid[i])));
  }
  d.topologies.set(r.topid, std::move(topology));
}
void note(Definitions& d, const CartCoords& r) {
  TopologyDef* topology = d.topologies.find(r.topid);
  std::vector<std::uint32_t>& coords = topology->coords[r.lid];
  coords.clear();
  for (std::uint32_t i = 0; i < r.coordv.size(); ++i) coords.push_back(r.coordv[i]);
}
void note(Definitions& d, const Offset& r) {
  d.offsets.push_back({r.ltime, r.offset});
}
void note(Definitions& d, const NumEvents& r) {
  if (!d.event_count && raw(r.eventc) != kAbsent) d.event_count = raw(r.eventc);
}
void note(Definitions& d, const EventCount64& r) {
  d.event_count = raw(r.eventc);
}
void note(Definitions& d, const LastDef&) {
  d.last_def = true;
}
void note(Definitions& d, const MergedRun& r) {
  d.merged_run = r;
}
void note(Definitions& d, const ClockRate& r) {
  d.clock_rate = r;
}
void note(Definitions& d, const ClockError& r) {
  NodeDef* node = d.nodes.find(r.nid);
  // Told where the offset was measured: the largest error is what holds for the whole trace.
  if (!node->clock_error || node->clock_error->value < r.bound.value) node->clock_error = r.bound;
}
void note(Definitions& d, const LocalModule& r) {
  ModuleDef module;
  module.path = d.string(r.pathid);
  module.build_id.assign(reinterpret_cast<const char*>(r.build_id.data()), r.build_id.size());
  d.modules.set(r.module, std::move(module));
}
void note(Definitions& d, const LocalSite& r) {
  const RegionDef* entered = d.regions.find(r.erid);
  d.regions.set(r.rid, RegionDef(*entered));
  d.local_sites.set(r.rid, {r.module, raw(r.address), r.caller, false});
}
void note(Definitions& d, const LocalFrame& r) {
  d.local_frames.set(r.frame, {r.module, raw(r.address), r.caller, false});
}
void note(Definitions& d, const LocalLock& r) {
  d.local_locks.set(r.lkid, {r.module, raw(r.address), absent<Count>(), false});
}
void note(Definitions& d, const LocalCut& r) {
  d.local_frames.set(r.frame, {absent<Count>(), 0, r.caller, true});
}
void note(Definitions& d, const LocalFunction& r) {
  RegionDef region;
  region.name = code_name(d.modules.find(r.module), raw(r.address));
  region.type = 1;
  d.regions.set(r.rid, std::move(region));
  d.local_functions.set(r.rid, {r.module, raw(r.address), absent<Count>(), false});
}
void note(Definitions& d, const Lost& r) {
  d.lost.push_back(r);
}
void note(Definitions& d, const FunctionsOff& r) {
  d.functions_off[r.pid] = r.groups;
}
void note(Definitions& d, const RunProperty& r) {
  d.properties.set(d.string(r.key), r.pid, d.string(r.value));
}

}  // namespace

Status Definitions::complaint(DefinitionFault fault, const char* field, std::string reason) {
  fault_ = fault;
  Error error;
  error.field = field;
  error.reason = std::move(reason);
  error.remedy = "the definition is left out";
  return error;
}

std::string code_name(const ModuleDef* module, std::uint64_t address) {
  char digits[17];
  const auto end = std::to_chars(digits, digits + sizeof digits, address, 16).ptr;
  std::string name;
  if (module != nullptr) name = module->path.substr(module->path.rfind('/') + 1) + "+";
  return name.append("0x").append(digits, end);
}

std::string_view Definitions::string(StringId id) const {
  const auto it = strings.find(id);
  return it == strings.end() ? std::string_view() : std::string_view(it->second);
}

Definitions::Definitions() = default;
Definitions::~Definitions() = default;
Definitions::Definitions(const Definitions&) = default;
Definitions::Definitions(Definitions&&) noexcept = default;
Definitions& Definitions::operator=(const Definitions&) = default;
Definitions& Definitions::operator=(Definitions&&) noexcept = default;

Status Definitions::add(const RawRecord& record, const Dialect& dialect) {
  Status result;
  fault_ = DefinitionFault::kNone;
  const bool known = dispatch_record(record.type, [&]<class R>() {
    if constexpr (R::kKind == RecordKind::kDefinition) {
      R decoded;
      if (const char* field = decode(record, dialect, decoded)) {
        result =
            complaint(DefinitionFault::kTooShort, field, "the record is too short for this field");
        return;
      }
      // The first object that it tells of and that nothing defines.
      const char *unknown = nullptr, *field = nullptr;
      visit_fields(decoded, dialect, PlainFields([&](const FieldInfo& info, const auto& id) {
                     if (info.rule != FieldRule::kKnown || unknown != nullptr) return;
                     field = info.name;
                     unknown = undefined(*this, id);
                   }));
      if (unknown != nullptr) {
        finish();
        result = complaint(DefinitionFault::kUnknownObject, field, unknown);
        return;
      }
      result = apply(decoded);
    } else {
      result = complaint(DefinitionFault::kNoDefinition, "", "this is no definition");
    }
  });
  (void)known;  // an unknown type is the reader's caller's business
  if (!result) {
    result.error().offset = record.offset;
    result.error().record = record_name(record.type);
  }
  return result;
}

void Definitions::finish() {
  if (open_ != Open::kNothing && missing_ > 0) ++unfinished_;
  if (open_ == Open::kComm) {
    std::vector<std::uint32_t> ranks;
    for (std::size_t byte = 0; byte < bits_.size(); ++byte) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        if ((bits_[byte] >> bit & 1) != 0) {
          ranks.push_back(static_cast<std::uint32_t>(byte * 8 + bit));
        }
      }
    }
    comms.find(open_comm_)->ranks = std::move(ranks);
  } else if (open_ == Open::kGroup) {
    groups.find(open_group_)->ranks = std::move(ranks_);
    ranks_ = {};
  }
  open_ = Open::kNothing;
}

std::uint64_t Definitions::processes() const {
  std::uint64_t count = locations.size();
  if (local_run) count = std::max<std::uint64_t>(count, raw(local_run->size));
  if (merged_run) count = std::max<std::uint64_t>(count, raw(merged_run->size));
  return count;
}

bool NeighbourLists::add(const GraphNeighbours& record) {
  if (raw(record.kind) != 1 && raw(record.kind) != 2) return false;
  std::vector<std::uint32_t>& list = raw(record.kind) == 1 ? sources : destinations;
  if (raw(record.first) == 0) list.clear();  // told again: each thread's trace tells it
  if (raw(record.first) != list.size()) return false;
  for (std::uint32_t i = 0; i < record.ranks.size(); ++i) list.push_back(record.ranks[i]);
  return true;
}

Status Definitions::add_ranks(const U4Array& part) {
  const auto take = static_cast<std::uint32_t>(std::min<std::size_t>(missing_, part.size()));
  for (std::uint32_t i = 0; i < take; ++i) ranks_.push_back(part[i]);
  missing_ -= take;
  if (missing_ == 0) finish();
  if (take < part.size())
    return complaint(DefinitionFault::kTooMany, "ranks", "more members than its count says");
  return {};
}

Status Definitions::add_bits(const ByteArray& part) {
  const auto take = static_cast<std::uint32_t>(std::min<std::size_t>(missing_, part.size()));
  for (std::uint32_t i = 0; i < take; ++i) bits_.push_back(part[i]);
  missing_ -= take;
  if (missing_ == 0) finish();
  if (take < part.size())
    return complaint(DefinitionFault::kTooMany, "grpv", "more bytes than its count says");
  return {};
}

template <class R>
Status Definitions::apply(const R& r) {
  const Open was = open_;
  if constexpr (!std::is_same_v<R, StringCnt> && !std::is_same_v<R, MpiGroupCnt> &&
                !std::is_same_v<R, MpiCommCnt>) {
    finish();
  }
  if constexpr (std::is_same_v<R, String>) {
    strings[r.strid] = std::string(r.str);
    missing_ = raw(r.cntc);
    if (missing_ > 0) {
      open_ = Open::kString;
      open_string_ = r.strid;
    }
  } else if constexpr (std::is_same_v<R, StringCnt>) {
    if (was != Open::kString || missing_ == 0)
      return complaint(DefinitionFault::kContinuesNothing, "", "continues no STRING");
    strings[open_string_] += r.str;
    --missing_;
  } else if constexpr (std::is_same_v<R, Metric> || std::is_same_v<R, LocalMetric>) {
    auto& table = std::is_same_v<R, Metric> ? metrics : local_metrics;
    table.set(r.metid, {std::string(string(r.metnid)), std::string(string(r.metdid)), raw(r.dtype),
                        raw(r.mode), raw(r.interval)});
  } else if constexpr (std::is_same_v<R, MpiComm>) {
    CommDef comm;
    comm.bits = true;
    comms.set(r.cid, std::move(comm));
    bits_.clear();
    open_comm_ = r.cid;
    open_ = Open::kComm;
    missing_ = raw(r.grpc);
    return add_bits(r.grpv);
  } else if constexpr (std::is_same_v<R, MpiCommCnt>) {
    if (was != Open::kComm || missing_ == 0)
      return complaint(DefinitionFault::kContinuesNothing, "", "continues no MPI_COMM");
    return add_bits(r.grpv);
  } else if constexpr (std::is_same_v<R, MpiGroup>) {
    groups.set(r.gid, {});
    ranks_.clear();
    if ((raw(r.mode) & 1) != 0) {
      expanded_ += raw(r.count);
      if (raw(r.count) > processes() || expanded_ > kMaxExpanded) {
        return complaint(DefinitionFault::kTooMany, "count",
                         "more members than the run has processes");
      }
      ranks_.resize(raw(r.count));
      std::iota(ranks_.begin(), ranks_.end(), 0u);
    }
    open_group_ = r.gid;
    open_ = Open::kGroup;
    missing_ = raw(r.count) - ranks_.size();
    return add_ranks(r.ranks);
  } else if constexpr (std::is_same_v<R, MpiGroupCnt>) {
    if (was != Open::kGroup || missing_ == 0)
      return complaint(DefinitionFault::kContinuesNothing, "", "continues no MPI_GROUP");
    return add_ranks(r.ranks);
  } else if constexpr (std::is_same_v<R, GraphNeighbours>) {
    CommDef* comm = comms.find(r.cid);
    if (!comm->neighbours[raw(r.pid)].add(r)) {
      return complaint(DefinitionFault::kContinuesNothing, "first",
                       "a record of neighbours before this one is missing");
    }
  } else if constexpr (std::is_same_v<R, CallSiteCaller>) {
    CallSiteDef* site = call_sites.find(r.csid);
    // Every path ends: as each is looked at, no ring can be closed.
    std::size_t callers = 1;
    bool ring = r.caller == r.csid;
    for_each_caller(*call_sites.find(r.caller), [&](CallSiteId id, const CallSiteDef&) {
      ++callers;
      ring = ring || id == r.csid;
    });
    if (ring || callers > kMostSiteCallers) {
      return complaint(DefinitionFault::kRing, "caller", "leads back to its call site, or too far");
    }
    site->caller = r.caller;
  } else if constexpr (std::is_same_v<R, LocalRun>) {
    if (local_run) *this = Definitions();  // the part of another thread
    local_run = r;
  } else if constexpr (requires { note(*this, r); }) {
    note(*this, r);
  }
  return {};
}

}  // namespace kojak

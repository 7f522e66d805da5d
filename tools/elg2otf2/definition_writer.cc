#include "tools/elg2otf2/definition_writer.h"

#include <cstdio>
#include <numeric>

#include "epilog/format/field_values.h"
#include "epilog/format/service.h"
#include "tools/export/names.h"

namespace kojak::otf2 {
namespace {

constexpr std::size_t kPiece = 32 * 1024;  // of the listing, in one property
constexpr OTF2_SystemTreeNodeRef kRoot = 0;

OTF2_RegionRole role_of(const RegionDef& region) {
  if (region.is_tracing() || region.is_pausing()) return OTF2_REGION_ROLE_ARTIFICIAL;
  if (region.function != nullptr) {
    switch (region.function->cls) {
      case MpiClass::kPointToPoint:
        return OTF2_REGION_ROLE_POINT2POINT;
      case MpiClass::kBarrier:
        return OTF2_REGION_ROLE_BARRIER;
      case MpiClass::kCollective:
        return OTF2_REGION_ROLE_COLL_OTHER;
      case MpiClass::kRmaCommunication:
      case MpiClass::kWindowManagement:
      case MpiClass::kFence:
      case MpiClass::kGeneralActiveTarget:
      case MpiClass::kPassiveTarget:
        return OTF2_REGION_ROLE_RMA;
      case MpiClass::kIo:
        return OTF2_REGION_ROLE_FILE_IO;
      default:
        return OTF2_REGION_ROLE_FUNCTION;
    }
  }
  // EPILOG's region types of OpenMP constructs, from 11 on (docs/format.md, REGION).
  constexpr OTF2_RegionRole kOpenMp[] = {
      OTF2_REGION_ROLE_PARALLEL,         OTF2_REGION_ROLE_LOOP,
      OTF2_REGION_ROLE_SECTIONS,         OTF2_REGION_ROLE_SECTION,
      OTF2_REGION_ROLE_WORKSHARE,        OTF2_REGION_ROLE_SINGLE,
      OTF2_REGION_ROLE_MASTER,           OTF2_REGION_ROLE_CRITICAL,
      OTF2_REGION_ROLE_ATOMIC,           OTF2_REGION_ROLE_BARRIER,
      OTF2_REGION_ROLE_IMPLICIT_BARRIER, OTF2_REGION_ROLE_FLUSH};
  const std::size_t openmp = region.type - std::size_t{11};
  if (region.type >= 11 && openmp < std::size(kOpenMp)) return kOpenMp[openmp];
  return region.type == 2 ? OTF2_REGION_ROLE_LOOP : OTF2_REGION_ROLE_FUNCTION;
}

OTF2_Paradigm paradigm_of(PgasModel model) {
  switch (model) {
    case PgasModel::kShmem:
      return OTF2_PARADIGM_SHMEM;
    case PgasModel::kArmci:
      return OTF2_PARADIGM_UNKNOWN;  // OTF2 has none
    case PgasModel::kUpc:
      return OTF2_PARADIGM_UPC;
  }
  return OTF2_PARADIGM_UNKNOWN;
}

OTF2_Paradigm paradigm_of(const RegionDef& region) {
  if (region.is_tracing() || region.is_pausing()) return OTF2_PARADIGM_MEASUREMENT_SYSTEM;
  if (region.function != nullptr) return OTF2_PARADIGM_MPI;
  if (region.shmem != nullptr) return paradigm_of(region.shmem->model);
  return region.type >= 11 ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_COMPILER;
}

std::uint32_t line_of(Line line) {
  return is_absent(line) ? 0 : raw(line);
}

class DefinitionWriter {
 public:
  DefinitionWriter(const Definitions& definitions, const Numbers& numbers,
                   const EventWriter& events, ArchiveWriter& archive)
      : d_(definitions), n_(numbers), events_(events), archive_(archive) {}

  void write(const std::vector<std::uint64_t>& counts, std::string_view listing,
             const std::string& faults) {
    check(OTF2_GlobalDefWriter_WriteClockProperties(out(), kTicksPerSecond, events_.first_tick(),
                                                    events_.last_tick() - events_.first_tick() + 1,
                                                    OTF2_UNDEFINED_TIMESTAMP));
    write_attributes();
    write_system();
    write_locations(counts);
    write_regions();
    write_call_sites();
    write_communicators();
    write_shared_memories();
    write_topologies();
    write_metrics();
    property(kTimeZeroProperty, std::to_string(events_.time_zero()));
    if (!faults.empty()) property(kFaultsProperty, faults);
    std::size_t number = 0;
    for (std::size_t at = 0; at < listing.size(); at += kPiece) {
      char name[64];
      std::snprintf(name, sizeof name, "%s%06zu", kDefinitionsProperty, number++);
      property(name, std::string(listing.substr(at, kPiece)));
    }
  }

 private:
  OTF2_GlobalDefWriter* out() { return archive_.definitions(); }
  void check(OTF2_ErrorCode code) { archive_.check(code); }
  OTF2_StringRef s(const std::string& text) { return archive_.string(text); }

  void property(const std::string& name, const std::string& value) {
    OTF2_AttributeValue v;
    v.stringRef = s(value);
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(out(), kRoot, s(name), OTF2_TYPE_STRING,
                                                           v));
  }

  void write_attributes() {
    check(OTF2_GlobalDefWriter_WriteAttribute(out(), kPlaceAttribute, s("SOURCE_CODE_LOCATION"),
                                              s("Where the region is entered from"),
                                              OTF2_TYPE_SOURCE_CODE_LOCATION));
    const CarriedNames& names = CarriedNames::get();
    for (std::size_t i = 0; i < names.all().size(); ++i) {
      check(OTF2_GlobalDefWriter_WriteAttribute(
          out(), kFirstCarried + static_cast<std::uint32_t>(i),
          s(std::string(kCarriedPrefix) + names.all()[i]), s("Of kojak's trace"),
          names.is_time(i) ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64));
    }
    check(OTF2_GlobalDefWriter_WriteParameter(out(), kRecordParameter,
                                              s(std::string(kCarriedPrefix) + "record"),
                                              OTF2_PARAMETER_TYPE_UINT64));
  }

  void write_system() {
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(out(), kRoot, s("system"), s("system"),
                                                   OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    std::uint32_t next = kRoot + 1;
    IdTable<MachineId, std::uint32_t> machines;
    d_.machines.for_each([&](MachineId id, const MachineDef& machine) {
      machines.set(id, next);
      check(OTF2_GlobalDefWriter_WriteSystemTreeNode(out(), next++, s(machine.name), s("machine"),
                                                     kRoot));
    });
    d_.nodes.for_each([&](NodeId id, const NodeDef& node) {
      nodes_.set(id, next);
      const std::uint32_t* machine = machines.find(node.machine);
      check(OTF2_GlobalDefWriter_WriteSystemTreeNode(out(), next, s(node.name), s("node"),
                                                     machine == nullptr ? kRoot : *machine));
      check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(out(), next++,
                                                           OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    });
  }

  void write_process(std::uint32_t rank, OTF2_SystemTreeNodeRef node) {
    const std::string name = exporting::process_name(d_, ProcessId{rank}, "MPI Rank ");
    check(OTF2_GlobalDefWriter_WriteLocationGroup(out(), rank, s(name),
                                                  OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                                                  OTF2_UNDEFINED_LOCATION_GROUP));
  }

  void write_locations(const std::vector<std::uint64_t>& counts) {
    std::vector<bool> written(n_.processes());
    members_.resize(n_.processes());
    for (std::uint32_t i = 0; i < n_.locations(); ++i) {
      const LocationDef& def = *d_.locations.find(n_.lid(i));
      const std::uint32_t rank = raw(def.process);
      const std::uint32_t* node = nodes_.find(def.node);
      if (rank < written.size() && !written[rank]) {
        written[rank] = true;
        write_process(rank, node == nullptr ? kRoot : *node);
      }
      check(OTF2_GlobalDefWriter_WriteLocation(out(), i, s(exporting::thread_name(d_, def)),
                                               OTF2_LOCATION_TYPE_CPU_THREAD, counts[i], rank));
      if (const auto since = service_since(d_, def)) {
        OTF2_AttributeValue value{};
        value.float64 = since->value;
        check(OTF2_GlobalDefWriter_WriteLocationProperty(out(), i, s(run_property::kServiceSince),
                                                         OTF2_TYPE_DOUBLE, value));
      }
    }
    // Processes without a trace are members of communicators all the same.
    std::uint64_t next = n_.locations();
    for (std::uint32_t rank = 0; rank < members_.size(); ++rank) {
      if (n_.main(rank) != kAbsent) {
        members_[rank] = n_.main(rank);
        continue;
      }
      if (!written[rank]) write_process(rank, kRoot);
      check(OTF2_GlobalDefWriter_WriteLocation(out(), next, s("not recorded"),
                                               OTF2_LOCATION_TYPE_CPU_THREAD, 0, rank));
      members_[rank] = next++;
    }
    check(OTF2_GlobalDefWriter_WriteGroup(out(), 0, s("MPI processes"),
                                          OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, n_.processes(), members_.data()));
  }

  void write_regions() {
    d_.regions.for_each([&](RegionId id, const RegionDef& region) {
      check(OTF2_GlobalDefWriter_WriteRegion(
          out(), raw(id), s(region.name), s(region.name), s(region.description), role_of(region),
          paradigm_of(region), OTF2_REGION_FLAG_NONE, s(region.file), line_of(region.begin),
          line_of(region.end)));
    });
    const auto artificial = [&](OTF2_RegionRef ref, const char* name) {
      if (d_.regions.find(RegionId{ref}) != nullptr) return;
      check(OTF2_GlobalDefWriter_WriteRegion(
          out(), ref, s(name), s(name), s(""), OTF2_REGION_ROLE_ARTIFICIAL,
          OTF2_PARADIGM_MEASUREMENT_SYSTEM, OTF2_REGION_FLAG_NONE, s(""), 0, 0));
    };
    artificial(n_.unknown_region(), "unknown region");
    artificial(n_.tracing(), "TRACING");
    artificial(n_.pausing(), "PAUSING");
  }

  void write_call_sites() {
    d_.call_sites.for_each([&](CallSiteId id, const CallSiteDef& site) {
      const std::string* file = d_.files.find(site.file);
      check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(
          out(), raw(id), s(file == nullptr ? "" : *file), line_of(site.line)));
    });
  }

  OTF2_GroupRef write_group(OTF2_GroupRef ref, const std::vector<std::uint32_t>& ranks,
                            OTF2_Paradigm paradigm = OTF2_PARADIGM_MPI) {
    const std::vector<std::uint64_t> members(ranks.begin(), ranks.end());
    check(OTF2_GlobalDefWriter_WriteGroup(
        out(), ref, s(""), OTF2_GROUP_TYPE_COMM_GROUP, paradigm, OTF2_GROUP_FLAG_NONE,
        static_cast<std::uint32_t>(members.size()), members.data()));
    return ref;
  }

  void write_communicators() {
    d_.comms.for_each([&](CommId id, const CommDef& comm) {
      const OTF2_GroupRef group = write_group(n_.group(id), comm.ranks);
      if (comm.stands_for_group) return;
      if (comm.intercommunicator && !comm.remote.empty()) {
        const OTF2_GroupRef remote = write_group(n_.remote_group(id), comm.remote);
        check(OTF2_GlobalDefWriter_WriteInterComm(out(), n_.comm(id), s(comm.name), group, remote,
                                                  OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        return;
      }
      const bool world = comm.ranks.size() == n_.processes() && raw(id) == 0;
      const std::string name = !comm.name.empty() ? comm.name
                               : world            ? "MPI_COMM_WORLD"
                                                  : "communicator " + std::to_string(raw(id));
      check(OTF2_GlobalDefWriter_WriteComm(out(), n_.comm(id), s(name), group, OTF2_UNDEFINED_COMM,
                                           OTF2_COMM_FLAG_NONE));
    });
    d_.windows.for_each([&](WindowId id, const WindowDef& window) {
      const std::string name =
          !window.name.empty() ? window.name : "window " + std::to_string(raw(id));
      check(OTF2_GlobalDefWriter_WriteRmaWin(out(), raw(id), s(name), n_.comm(window.comm),
                                             OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    });
  }

  void write_shared_memories() {
    std::vector<std::uint32_t> ranks(n_.processes());
    std::iota(ranks.begin(), ranks.end(), 0u);
    for (const Numbers::SharedMemory& shared : n_.shared_memories()) {
      const bool armci = shared.model == PgasModel::kArmci;  // whose processes are MPI's
      const OTF2_Paradigm paradigm =
          armci ? OTF2_Paradigm{OTF2_PARADIGM_MPI} : paradigm_of(shared.model);
      const std::string name(name_of(shared.model));
      if (!armci) {
        check(OTF2_GlobalDefWriter_WriteGroup(
            out(), shared.locations, s(name + " processes"), OTF2_GROUP_TYPE_COMM_LOCATIONS,
            paradigm, OTF2_GROUP_FLAG_NONE, n_.processes(), members_.data()));
      }
      const OTF2_GroupRef members = write_group(shared.members, ranks, paradigm);
      check(OTF2_GlobalDefWriter_WriteComm(out(), shared.comm, s(name), members,
                                           OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
      check(OTF2_GlobalDefWriter_WriteRmaWin(out(), shared.window, s(name + " memory"), shared.comm,
                                             OTF2_RMA_WIN_FLAG_NONE));
    }
  }

  void write_topologies() {
    std::uint32_t dimension = 0, next = 0;
    d_.topologies.for_each([&](TopologyId, const TopologyDef& topology) {
      const CommDef* comm = d_.comms.find(topology.comm);
      if (comm == nullptr) return;
      std::vector<OTF2_CartDimensionRef> dimensions;
      for (std::size_t i = 0; i < topology.size.size(); ++i) {
        const std::string name =
            i < topology.dimension_names.size() ? topology.dimension_names[i] : std::string();
        check(OTF2_GlobalDefWriter_WriteCartDimension(
            out(), dimension, s(name), topology.size[i],
            topology.periodic[i] ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE));
        dimensions.push_back(dimension++);
      }
      check(OTF2_GlobalDefWriter_WriteCartTopology(
          out(), next, s(topology.name), n_.comm(topology.comm),
          static_cast<std::uint8_t>(dimensions.size()), dimensions.data()));
      for (std::uint32_t rank = 0; rank < comm->ranks.size(); ++rank) {
        const auto known = topology.coords.find(LocationId{comm->ranks[rank]});
        if (known == topology.coords.end()) continue;
        check(OTF2_GlobalDefWriter_WriteCartCoordinate(
            out(), next, rank, static_cast<std::uint8_t>(known->second.size()),
            known->second.data()));
      }
      ++next;
    });
  }

  void write_metrics() {
    std::vector<OTF2_MetricMemberRef> members;
    d_.metrics.for_each([&](MetricId, const MetricDef& metric) {
      constexpr OTF2_MetricMode kCounter[] = {OTF2_METRIC_ACCUMULATED_START,
                                              OTF2_METRIC_ACCUMULATED_LAST,
                                              OTF2_METRIC_ACCUMULATED_NEXT};
      const OTF2_MetricMode mode = metric.mode == 0 && metric.interval < std::size(kCounter)
                                       ? kCounter[metric.interval]
                                       : OTF2_MetricMode{OTF2_METRIC_ABSOLUTE_POINT};
      const auto ref = static_cast<OTF2_MetricMemberRef>(members.size());
      check(OTF2_GlobalDefWriter_WriteMetricMember(
          out(), ref, s(metric.name), s(metric.description), OTF2_METRIC_TYPE_OTHER, mode,
          metric.dtype == kFloatCounter ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
          s("#")));
      members.push_back(ref);
    });
    if (members.empty() || members.size() > 255) return;
    check(OTF2_GlobalDefWriter_WriteMetricClass(
        out(), kMetricClass, static_cast<std::uint8_t>(members.size()), members.data(),
        OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU));
  }

  const Definitions& d_;
  const Numbers& n_;
  const EventWriter& events_;
  ArchiveWriter& archive_;
  IdTable<NodeId, std::uint32_t> nodes_;
  std::vector<std::uint64_t> members_;  // locations of the processes' first threads
};

}  // namespace

void write_definitions(const Definitions& definitions, const Numbers& numbers,
                       const EventWriter& events, const std::vector<std::uint64_t>& counts,
                       std::string_view listing, const std::string& faults,
                       ArchiveWriter& archive) {
  DefinitionWriter(definitions, numbers, events, archive).write(counts, listing, faults);
}

}  // namespace kojak::otf2

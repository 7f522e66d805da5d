// Definitions as Python objects: small values, made when asked for.
#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

struct Location {
  std::uint32_t id, process, thread;
  std::string node, machine;
};
struct Region {
  std::uint32_t id;
  std::string name, file;
  std::optional<std::uint32_t> begin, end;
};
struct CallSite {
  std::uint32_t id;
  std::string file;
  std::optional<std::uint32_t> line, entered, left;
};
struct Communicator {
  std::uint32_t id;
  std::vector<std::uint32_t> ranks, remote;
  bool is_group, identity_known;
};
struct Window {
  std::uint32_t id, communicator;
  std::string flavour;
};
struct Metric {
  std::uint32_t id;
  std::string name, description;
};
struct Topology {
  std::uint32_t id;
  std::string name;
  std::vector<std::uint32_t> size;
  std::vector<bool> periodic;
  std::map<std::uint32_t, std::vector<std::uint32_t>> coordinates;
};
struct Path {
  std::uint32_t id;
  std::optional<std::uint32_t> parent;
  std::uint32_t region_id;
  std::string region;
  std::optional<std::uint32_t> call_site;
  std::uint64_t first_enter;
};

std::string file_name(const Definitions& d, FileId id) {
  const std::string* name = d.files.find(id);
  return name != nullptr ? *name : "";
}

std::vector<std::uint32_t> list(const RankList& ranks) {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t rank : ranks) result.push_back(rank);
  return result;
}

std::vector<Location> locations(const Archive& a) {
  std::vector<Location> result;
  for (std::uint32_t i = 0; i < a.trace().location_count(); ++i) {
    const LocationDef& l = a.trace().location_def(i);
    const NodeDef* node = a.definitions().nodes.find(l.node);
    const MachineDef* machine = a.definitions().machines.find(l.machine);
    result.push_back({raw(a.trace().location(i)), raw(l.process), raw(l.thread),
                      node != nullptr ? node->name : "", machine != nullptr ? machine->name : ""});
  }
  return result;
}

std::map<std::uint32_t, Region> regions(const Archive& a) {
  std::map<std::uint32_t, Region> result;
  a.definitions().regions.for_each([&](RegionId id, const RegionDef& r) {
    result.emplace(raw(id), Region{raw(id), r.name, r.file, number(r.begin), number(r.end)});
  });
  return result;
}

std::map<std::uint32_t, CallSite> call_sites(const Archive& a) {
  std::map<std::uint32_t, CallSite> result;
  a.definitions().call_sites.for_each([&](CallSiteId id, const CallSiteDef& c) {
    result.emplace(raw(id), CallSite{raw(id), file_name(a.definitions(), c.file), number(c.line),
                                     number(c.entered), number(c.left)});
  });
  return result;
}

std::map<std::uint32_t, Communicator> communicators(const Archive& a) {
  std::map<std::uint32_t, Communicator> result;
  a.definitions().comms.for_each([&](CommId id, const CommDef& c) {
    result.emplace(raw(id), Communicator{raw(id), list(c.ranks), list(c.remote), c.stands_for_group,
                                         c.identity_known});
  });
  return result;
}

std::map<std::uint32_t, std::vector<std::uint32_t>> groups(const Archive& a) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> result;
  a.definitions().groups.for_each(
      [&](GroupId id, const GroupDef& g) { result.emplace(raw(id), list(g.ranks)); });
  return result;
}

std::map<std::uint32_t, Window> windows(const Archive& a) {
  constexpr const char* kFlavours[] = {"unknown", "create", "allocate", "dynamic", "shared"};
  std::map<std::uint32_t, Window> result;
  a.definitions().windows.for_each([&](WindowId id, const WindowDef& w) {
    result.emplace(raw(id), Window{raw(id), raw(w.comm), kFlavours[w.flavour < 5 ? w.flavour : 0]});
  });
  return result;
}

std::vector<Metric> metrics(const Archive& a) {
  std::vector<Metric> result;
  a.definitions().metrics.for_each([&](MetricId id, const MetricDef& m) {
    result.push_back({raw(id), m.name, m.description});
  });
  return result;
}

std::vector<Topology> topologies(const Archive& a) {
  std::vector<Topology> result;
  a.definitions().topologies.for_each([&](TopologyId id, const TopologyDef& t) {
    Topology topology{raw(id), t.name, t.size, t.periodic, {}};
    for (const auto& [location, at] : t.coords) topology.coordinates[raw(location)] = at;
    result.push_back(std::move(topology));
  });
  return result;
}

std::vector<Path> call_tree(const Archive& a) {
  std::vector<Path> result;
  for (std::uint32_t i = 0; i < a.call_tree().size(); ++i) {
    const CallPath& p = a.call_tree()[static_cast<CallPathId>(i)];
    const RegionDef* region = a.definitions().regions.find(p.region);
    result.push_back({i, number(p.parent), raw(p.region), region != nullptr ? region->name : "",
                      number(p.csite), p.first_enter});
  }
  return result;
}

}  // namespace

void add_definitions(py::module_& m) {
  py::class_<Location>(m, "Location", "A thread of a process: one time line of the trace.")
      .def_readonly("id", &Location::id)
      .def_readonly("process", &Location::process, "Rank in MPI_COMM_WORLD.")
      .def_readonly("thread", &Location::thread)
      .def_readonly("node", &Location::node)
      .def_readonly("machine", &Location::machine);
  py::class_<Region>(m, "Region", "A function or another part of the program.")
      .def_readonly("id", &Region::id)
      .def_readonly("name", &Region::name)
      .def_readonly("file", &Region::file)
      .def_readonly("begin", &Region::begin, "First line, None if unknown.")
      .def_readonly("end", &Region::end)
      .def("__repr__", [](const Region& r) { return "<earl.Region " + r.name + ">"; });
  py::class_<CallSite>(m, "CallSite", "Where a region is entered from.")
      .def_readonly("id", &CallSite::id)
      .def_readonly("file", &CallSite::file)
      .def_readonly("line", &CallSite::line)
      .def_readonly("entered", &CallSite::entered, "Region entered.")
      .def_readonly("left", &CallSite::left, "Region of the caller.");
  py::class_<Communicator>(m, "Communicator", "A communicator, or a group written as one.")
      .def_readonly("id", &Communicator::id)
      .def_readonly("ranks", &Communicator::ranks, "World ranks, in its order.")
      .def_readonly("remote", &Communicator::remote, "Remote group of an intercommunicator.")
      .def_readonly("is_group", &Communicator::is_group)
      .def_readonly("identity_known", &Communicator::identity_known);
  py::class_<Window>(m, "Window", "A window.")
      .def_readonly("id", &Window::id)
      .def_readonly("communicator", &Window::communicator)
      .def_readonly("flavour", &Window::flavour);
  py::class_<Metric>(m, "Metric", "A hardware counter.")
      .def_readonly("id", &Metric::id)
      .def_readonly("name", &Metric::name)
      .def_readonly("description", &Metric::description);
  py::class_<Topology>(m, "Topology", "A Cartesian topology.")
      .def_readonly("id", &Topology::id)
      .def_readonly("name", &Topology::name)
      .def_readonly("size", &Topology::size)
      .def_readonly("periodic", &Topology::periodic)
      .def_readonly("coordinates", &Topology::coordinates, "By location.");
  py::class_<Path>(m, "CallPath", "A distinct call path.")
      .def_readonly("id", &Path::id)
      .def_readonly("parent", &Path::parent, "None at a root.")
      .def_readonly("region_id", &Path::region_id)
      .def_readonly("region", &Path::region)
      .def_readonly("call_site", &Path::call_site)
      .def_readonly("first_enter", &Path::first_enter, "Number of its first ENTER.");
}

void add_definition_properties(py::class_<Archive, std::shared_ptr<Archive>>& trace) {
  trace.def_property_readonly("locations", &locations, "All locations, in order.")
      .def_property_readonly("regions", &regions, "Regions by identifier.")
      .def_property_readonly("call_sites", &call_sites, "Call sites by identifier.")
      .def_property_readonly("communicators", &communicators, "Communicators by identifier.")
      .def_property_readonly("groups", &groups, "World ranks of groups, by identifier.")
      .def_property_readonly("windows", &windows, "Windows by identifier.")
      .def_property_readonly("metrics", &metrics, "Hardware counters, in order of their values.")
      .def_property_readonly("topologies", &topologies, "Cartesian topologies.")
      .def_property_readonly("call_tree", &call_tree, "Call paths in order of their first ENTER.");
}

}  // namespace kojak::earl::python

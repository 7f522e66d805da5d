// Definitions as Python objects: small values, made when asked for.
#include "earl/python/module.h"
#include "epilog/format/service.h"

namespace kojak::earl::python {
namespace {

struct Machine {
  std::uint32_t id;
  std::string name;
};
struct Node {
  std::uint32_t id;
  std::string name;
  std::uint32_t machine;
  std::optional<double> clock_error;
};
struct Process {
  std::uint32_t rank;
  std::string name;
  std::vector<std::uint32_t> locations;
};
struct Location {
  std::uint32_t id, process, thread;
  std::string name, node, machine;
  std::optional<double> service;
};
struct Region {
  std::uint32_t id;
  std::string name, file;
  std::optional<std::string> model;
  std::optional<std::uint32_t> begin, end;
};
struct CallSite {
  std::uint32_t id;
  std::string file;
  std::optional<std::uint32_t> line, entered, left, caller;
};
struct Communicator {
  std::uint32_t id;
  std::vector<std::uint32_t> ranks, remote;
  bool is_group, identity_known;
  std::string name;
};
struct Window {
  std::uint32_t id, communicator;
  std::string flavour, name;
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
  std::string path;
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

std::map<std::uint32_t, Machine> machines(const Archive& a) {
  std::map<std::uint32_t, Machine> result;
  a.definitions().machines.for_each([&](MachineId id, const MachineDef& m) {
    result.emplace(raw(id), Machine{raw(id), m.name});
  });
  return result;
}

std::map<std::uint32_t, Node> nodes(const Archive& a) {
  std::map<std::uint32_t, Node> result;
  a.definitions().nodes.for_each([&](NodeId id, const NodeDef& n) {
    const auto error = n.clock_error ? std::optional(n.clock_error->value) : std::nullopt;
    result.emplace(raw(id), Node{raw(id), n.name, raw(n.machine), error});
  });
  return result;
}

std::map<std::uint32_t, std::string> files(const Archive& a) {
  std::map<std::uint32_t, std::string> result;
  a.definitions().files.for_each(
      [&](FileId id, const std::string& name) { result.emplace(raw(id), name); });
  return result;
}

std::map<std::uint32_t, Process> processes(const Archive& a) {
  std::map<std::uint32_t, Process> result;
  for (std::uint32_t i = 0; i < a.trace().location_count(); ++i) {
    const ProcessId rank = a.trace().process(i);
    const auto name = a.definitions().process_names.find(rank);
    Process& process =
        result
            .try_emplace(
                raw(rank),
                Process{
                    raw(rank), name != a.definitions().process_names.end() ? name->second : "", {}})
            .first->second;
    process.locations.push_back(raw(a.trace().location(i)));
  }
  return result;
}

std::optional<double> service_of(const Definitions& definitions, const LocationDef& location) {
  const auto since = service_since(definitions, location);
  return since ? std::optional(since->value) : std::nullopt;
}

std::vector<Location> locations(const Archive& a) {
  std::vector<Location> result;
  for (std::uint32_t i = 0; i < a.trace().location_count(); ++i) {
    const LocationDef& l = a.trace().location_def(i);
    const NodeDef* node = a.definitions().nodes.find(l.node);
    const MachineDef* machine = a.definitions().machines.find(l.machine);
    const auto name = a.definitions().thread_names.find({l.process, l.thread});
    result.push_back({raw(a.trace().location(i)), raw(l.process), raw(l.thread),
                      name != a.definitions().thread_names.end() ? name->second : "",
                      node != nullptr ? node->name : "", machine != nullptr ? machine->name : "",
                      service_of(a.definitions(), l)});
  }
  return result;
}

std::optional<std::string> model_of(const RegionDef& region) {
  if (region.function != nullptr) return "mpi";
  if (region.shmem == nullptr) return std::nullopt;
  switch (region.shmem->model) {
    case PgasModel::kArmci:
      return "armci";
    case PgasModel::kUpc:
      return "upc";
    default:
      return "shmem";
  }
}

std::map<std::uint32_t, Region> regions(const Archive& a) {
  std::map<std::uint32_t, Region> result;
  a.definitions().regions.for_each([&](RegionId id, const RegionDef& r) {
    result.emplace(raw(id),
                   Region{raw(id), r.name, r.file, model_of(r), number(r.begin), number(r.end)});
  });
  return result;
}

std::map<std::uint32_t, CallSite> call_sites(const Archive& a) {
  std::map<std::uint32_t, CallSite> result;
  a.definitions().call_sites.for_each([&](CallSiteId id, const CallSiteDef& c) {
    result.emplace(raw(id), CallSite{raw(id), file_name(a.definitions(), c.file), number(c.line),
                                     number(c.entered), number(c.left), number(c.caller)});
  });
  return result;
}

std::map<std::uint32_t, Communicator> communicators(const Archive& a) {
  std::map<std::uint32_t, Communicator> result;
  a.definitions().comms.for_each([&](CommId id, const CommDef& c) {
    result.emplace(raw(id), Communicator{raw(id), list(c.ranks), list(c.remote), c.stands_for_group,
                                         c.identity_known, c.name});
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
    result.emplace(raw(id),
                   Window{raw(id), raw(w.comm), kFlavours[w.flavour < 5 ? w.flavour : 0], w.name});
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
                      path_name(a, static_cast<CallPathId>(i)), number(p.csite), p.first_enter});
  }
  return result;
}

std::string quoted(const std::string& name) {
  return "'" + name + "'";
}
// What a program gave need be no UTF-8.
py::str text(const std::string& name) {
  const auto size = static_cast<py::ssize_t>(name.size());
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(name.data(), size, "backslashreplace"));
}
// <earl.Kind 3 'name'>
template <class T>
std::string shown(const char* kind, std::uint32_t id, const T& rest) {
  return "<earl." + std::string(kind) + " " + std::to_string(id) + " " + rest + ">";
}

void add_places(py::module_& m) {
  py::class_<Machine>(m, "Machine", "A machine.")
      .def_readonly("id", &Machine::id)
      .def_readonly("name", &Machine::name)
      .def("__repr__", [](const Machine& x) { return shown("Machine", x.id, quoted(x.name)); });
  py::class_<Node>(m, "Node", "A node of a machine: what shares a clock.")
      .def_readonly("id", &Node::id)
      .def_readonly("name", &Node::name)
      .def_readonly("machine", &Node::machine, "Number of its machine.")
      .def_readonly("clock_error", &Node::clock_error,
                    "Bound of the clock's error in seconds, None if unknown.")
      .def("__repr__", [](const Node& x) { return shown("Node", x.id, quoted(x.name)); });
  py::class_<Process>(m, "Process", "A process that the trace has events of.")
      .def_readonly("rank", &Process::rank, "Rank in MPI_COMM_WORLD.")
      .def_readonly("name", &Process::name)
      .def_readonly("locations", &Process::locations, "Its threads' locations.")
      .def("__repr__", [](const Process& x) { return shown("Process", x.rank, quoted(x.name)); });
}

}  // namespace

void add_definitions(py::module_& m) {
  add_places(m);
  py::class_<Location>(m, "Location", "A thread of a process: one time line of the trace.")
      .def_readonly("id", &Location::id)
      .def_readonly("process", &Location::process, "Rank in MPI_COMM_WORLD.")
      .def_readonly("thread", &Location::thread, "Number within the process, from 0.")
      .def_readonly("name", &Location::name, "Of the thread.")
      .def_readonly("node", &Location::node, "Name of its node.")
      .def_readonly("machine", &Location::machine, "Name of its machine.")
      .def_readonly("service", &Location::service,
                    "From when on it serves the others, None if it does not.")
      .def("__repr__", [](const Location& l) {
        return shown(
            "Location", l.id,
            "process " + std::to_string(l.process) + " thread " + std::to_string(l.thread));
      });
  py::class_<Region>(m, "Region", "A function or another part of the program.")
      .def_readonly("id", &Region::id)
      .def_readonly("name", &Region::name)
      .def_readonly("file", &Region::file)
      .def_readonly("model", &Region::model,
                    "Whose function: 'mpi', 'shmem', 'armci', 'upc'; None: of none of these.")
      .def_readonly("begin", &Region::begin, "First line, None if unknown.")
      .def_readonly("end", &Region::end)
      .def("__repr__", [](const Region& r) { return shown("Region", r.id, quoted(r.name)); });
  py::class_<CallSite>(m, "CallSite", "Where a region is entered from.")
      .def_readonly("id", &CallSite::id)
      .def_readonly("file", &CallSite::file)
      .def_readonly("line", &CallSite::line)
      .def_readonly("entered", &CallSite::entered, "Region entered, by number.")
      .def_readonly("left", &CallSite::left, "Region of the caller, by number.")
      .def_readonly("caller", &CallSite::caller,
                    "The call site that entered `left`, None where paths were not recorded.")
      .def("__repr__", [](const CallSite& c) {
        return shown("CallSite", c.id, c.file + (c.line ? ":" + std::to_string(*c.line) : ""));
      });
  py::class_<Communicator>(m, "Communicator", "A communicator, or a group written as one.")
      .def_readonly("id", &Communicator::id)
      .def_readonly("ranks", &Communicator::ranks, "World ranks, in its order.")
      .def_readonly("remote", &Communicator::remote, "Remote group of an intercommunicator.")
      .def_readonly("is_group", &Communicator::is_group, "It stands for a group.")
      .def_readonly("identity_known", &Communicator::identity_known,
                    "False: it was seen first in use, nothing on it is paired.")
      .def_property_readonly(
          "name", [](const Communicator& c) { return text(c.name); },
          "What the program called it, '' if it did not.")
      .def("__repr__", [](const Communicator& c) {
        const std::string members = "of " + std::to_string(c.ranks.size());
        return text(
            shown("Communicator", c.id, c.name.empty() ? members : quoted(c.name) + ' ' + members));
      });
  py::class_<Window>(m, "Window", "A window.")
      .def_readonly("id", &Window::id)
      .def_readonly("communicator", &Window::communicator, "Whose members share it, by number.")
      .def_readonly("flavour", &Window::flavour,
                    "'create', 'allocate', 'dynamic', 'shared', 'unknown'.")
      .def_property_readonly(
          "name", [](const Window& w) { return text(w.name); },
          "What the program called it, '' if it did not.")
      .def("__repr__", [](const Window& w) {
        const std::string where = "on communicator " + std::to_string(w.communicator);
        return text(shown("Window", w.id, w.name.empty() ? where : quoted(w.name) + ' ' + where));
      });
  py::class_<Metric>(m, "Metric", "A hardware counter.")
      .def_readonly("id", &Metric::id)
      .def_readonly("name", &Metric::name)
      .def_readonly("description", &Metric::description)
      .def("__repr__", [](const Metric& x) { return shown("Metric", x.id, quoted(x.name)); });
  py::class_<Topology>(m, "Topology", "A Cartesian topology.")
      .def_readonly("id", &Topology::id)
      .def_readonly("name", &Topology::name)
      .def_readonly("size", &Topology::size)
      .def_readonly("periodic", &Topology::periodic)
      .def_readonly("coordinates", &Topology::coordinates, "By location.")
      .def("__repr__", [](const Topology& x) { return shown("Topology", x.id, quoted(x.name)); });
  py::class_<Path>(m, "CallPath", "A distinct call path.")
      .def_readonly("id", &Path::id)
      .def_readonly("parent", &Path::parent, "None at a root.")
      .def_readonly("region_id", &Path::region_id)
      .def_readonly("region", &Path::region)
      .def_readonly("path", &Path::path, "'main/solve/MPI_Put'.")
      .def_readonly("call_site", &Path::call_site)
      .def_readonly("first_enter", &Path::first_enter, "Number of its first ENTER.")
      .def("__repr__", [](const Path& x) { return shown("CallPath", x.id, quoted(x.path)); });
}

void add_definition_properties(py::class_<Archive, std::shared_ptr<Archive>>& trace) {
  trace.def_property_readonly("machines", &machines, "Machines by identifier.")
      .def_property_readonly("nodes", &nodes, "Nodes by identifier.")
      .def_property_readonly("processes", &processes, "Processes by rank.")
      .def_property_readonly("files", &files, "Names of source files, by identifier.")
      .def_property_readonly("locations", &locations, "All locations, in order.")
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

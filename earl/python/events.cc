// Events and their pointers.
#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

struct Kind {
  const char* name;
  bool (*is)(EventType);
};
constexpr Kind kKinds[] = {
    {"Event", [](EventType) { return true; }},
    {"Flow", is_flow},
    {"Enter", is_enter},
    {"Exit", is_exit},
    {"MPICExit", is_mpi_coll_exit},
    {"OMPCExit", is_omp_coll_exit},
    {"MPIWExit", is_win_exit},
    {"MPIWCExit", is_win_coll_exit},
    {"P2P", is_p2p},
    {"Send", is_send},
    {"Recv", is_recv},
    {"RMA", is_rma},
    {"RMA_Comm", is_rma_comm},
    {"Put_1TS", is_put_start},
    {"Put_1TE", is_put_end},
    {"Get_1TO", is_get_origin},
    {"Get_1TS", is_get_start},
    {"Get_1TE", is_get_end},
    {"RMA_Sync", is_rma_sync},
    {"Wlock", is_win_lock},
    {"Wunlock", is_win_unlock},
    {"Team", is_team},
    {"Fork", is_fork},
    {"Join", is_join},
    {"Sync", is_sync},
    {"Alock", is_alock},
    {"Rlock", is_rlock},
};

bool is_a(const PyEvent& e, const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind.is(e.event.type);
  }
  throw py::value_error("no such kind of event: " + name);
}

std::string type_name(const PyEvent& e) {
  const std::string_view name = record_name(raw(e.event.type));
  return name.empty() ? "type " + std::to_string(raw(e.event.type)) : std::string(name);
}

std::optional<std::string> region(const PyEvent& e) {
  const RegionDef* r = e.archive->definitions().regions.find(e.event.reg);
  if (is_absent(e.event.reg) || r == nullptr) return std::nullopt;
  return r->name;
}

// Bytes of a message or transfer, where its own record or that of its send or start tells.
std::optional<std::uint64_t> length(const PyEvent& e) {
  const auto own = [](const Event& event) {
    return is_send(event.type) || is_rma_start(event.type) ? raw(event.sent) : raw(event.recvd);
  };
  const EventType t = e.event.type;
  if (!is_p2p(t) && !is_rma_start(t) && !is_rma_end(t)) return std::nullopt;
  if (e.event.has_length) return own(e.event);
  const std::uint64_t from =
      is_recv(t) ? e.archive->sendptr(e.event) : e.archive->startptr(e.event);
  if (from == kNoEvent) return std::nullopt;
  return own((*e.archive)[from]);
}

// A number of events of some kinds only.
template <class F>
auto only(bool (*kind)(EventType), F&& f) {
  return [kind, f](const PyEvent& e) {
    using Value = std::remove_cvref_t<decltype(f(e.event))>;
    if constexpr (requires { typename Value::value_type; }) {
      return kind(e.event.type) ? f(e.event) : Value{};
    } else {
      return kind(e.event.type) ? std::optional<Value>(f(e.event)) : std::nullopt;
    }
  };
}
std::optional<std::uint32_t> context(const PyEvent& e) {
  if (e.event.context == kAbsent) return std::nullopt;
  return e.event.context;
}
std::optional<std::uint64_t> offset(const PyEvent& e) {
  if (e.event.offset == SymmetricPlace::kUnknown) return std::nullopt;
  return e.event.offset;
}
const auto kPeer = [](const Event& e) { return number(e.peer); };
constexpr bool has_source(EventType t) {
  return is_recv(t) || is_rma_end(t);
}
constexpr bool has_destination(EventType t) {
  return is_send(t) || is_rma_start(t);
}
constexpr bool has_root(EventType t) {
  return is_mpi_coll_exit(t) || is_shmem_coll_exit(t);
}

void add_attributes(py::class_<PyEvent>& event) {
  event
      .def_property_readonly("length", &length,
                             "Bytes of a message or transfer; None if nothing tells.")
      .def_property_readonly("source", only(has_source, kPeer),
                             "Recv, Put_1TE, Get_1TE: process that the data come from.")
      .def_property_readonly("destination", only(has_destination, kPeer),
                             "Send, Put_1TS, Get_1TS: process that they go to.")
      .def_property_readonly("root", only(has_root, kPeer), "Of a collective; None if it has none.")
      .def_property_readonly("target", only(is_rma_sync, kPeer),
                             "Process whose part of the window is locked; None: all.")
      .def_property_readonly("group",
                             only(is_win_exit, [](const Event& e) { return number(e.com); }),
                             "MPIWExit: the group, a number in Trace.communicators.")
      .def_property_readonly(
          "synex", only(is_win_exit, [](const Event& e) { return std::uint32_t{e.code}; }),
          "MPIWExit: 0 begins an epoch, 1 ends one.")
      .def_property_readonly("context", &context,
                             "SHMEM_PLACE, SHMEM_QUIET: the context, 0 the default one; None: all.")
      .def_property_readonly("offset", &offset,
                             "SHMEM_PLACE, SHMEM_WAIT: first byte in symmetric memory.")
      .def_property_readonly("error_class",
                             only([](EventType t) { return t == EventType::kMpiError; },
                                  [](const Event& e) { return std::uint32_t{e.code}; }),
                             "MPI_ERROR: number of the error class, as docs/format.md lists them.")
      .def_property_readonly("exclusive",
                             only([](EventType t) { return t == EventType::kMpiWinLock; },
                                  [](const Event& e) { return e.code == 1; }),
                             "MPI_WIN_LOCK: exclusive or shared.");
}

template <std::uint64_t (Archive::*Pointer)(const Event&) const>
std::optional<PyEvent> follow(const PyEvent& e) {
  return event_at(e.archive, ((*e.archive).*Pointer)(e.event));
}

std::optional<std::uint32_t> process(const PyEvent& e) {
  const std::uint32_t i = e.archive->trace().index(e.event.loc);
  if (i == kAbsent) return std::nullopt;
  return raw(e.archive->trace().process(i));
}

}  // namespace

std::string path_name(const Archive& a, CallPathId id) {
  std::string result;
  for (; !is_absent(id); id = a.call_tree()[id].parent) {
    const RegionDef* r = a.definitions().regions.find(a.call_tree()[id].region);
    result = (r != nullptr ? r->name : "?") + (result.empty() ? "" : "/" + result);
  }
  return result;
}

std::optional<PyEvent> event_at(const ArchivePtr& archive, std::uint64_t pos) {
  if (pos == kNoEvent) return std::nullopt;
  return PyEvent{archive, (*archive)[pos]};
}

std::vector<PyEvent> events_at(const ArchivePtr& archive, const std::vector<std::uint64_t>& list) {
  std::vector<PyEvent> result;
  result.reserve(list.size());
  for (const std::uint64_t pos : list) result.push_back(PyEvent{archive, (*archive)[pos]});
  return result;
}

void add_events(py::module_& m) {
  py::class_<PyEvent> event(m, "Event",
                            "An event. Attributes that its type does not have are None (numbers\n"
                            "of bytes: 0); pointers lead to earlier events, or are None.");
  add_attributes(event);
  add_polls(m, event);
  event
      .def_property_readonly(
          "pos", [](const PyEvent& e) { return e.event.pos; },
          "Number of the event, from 0 in file order.")
      .def_property_readonly("type", &type_name, "Name of its record: 'MPI_PUT_1TS'.")
      .def_property_readonly(
          "time", [](const PyEvent& e) { return e.event.time.value; }, "Seconds.")
      .def_property_readonly(
          "location", [](const PyEvent& e) { return number(e.event.loc); },
          "Time line (thread of a process) that it lies on.")
      .def_property_readonly("process", &process, "Rank in MPI_COMM_WORLD.")
      .def_property_readonly("region", &region,
                             "Name of the region entered, left, or that it lies in.")
      .def_property_readonly(
          "region_id", [](const PyEvent& e) { return number(e.event.reg); },
          "Its number in Trace.regions.")
      .def_property_readonly(
          "call_site", [](const PyEvent& e) { return number(e.event.csite); },
          "ENTER_CS: where the region is entered from, a number in Trace.call_sites.")
      .def_property_readonly(
          "peer", [](const PyEvent& e) { return number(e.event.peer); },
          "Destination, source, root, or target of a lock.")
      .def_property_readonly(
          "communicator", [](const PyEvent& e) { return number(e.event.com); },
          "Also the group of a MPI_WINEXIT.")
      .def_property_readonly("window", [](const PyEvent& e) { return number(e.event.win); })
      .def_property_readonly("tag", [](const PyEvent& e) { return number(e.event.tag); })
      .def_property_readonly("rmaid", [](const PyEvent& e) { return number(e.event.rmaid); })
      .def_property_readonly("request", [](const PyEvent& e) { return number(e.event.request); })
      .def_property_readonly("lock", [](const PyEvent& e) { return number(e.event.lock); })
      .def_property_readonly(
          "sent", [](const PyEvent& e) { return raw(e.event.sent); }, "Bytes, as recorded.")
      .def_property_readonly(
          "received", [](const PyEvent& e) { return raw(e.event.recvd); },
          "Bytes, as recorded; classic traces tell them at collectives only.")
      .def_property_readonly(
          "code",
          [](const PyEvent& e) {
            return e.event.type == EventType::kMpiError ? e.event.count[0]
                                                        : std::uint64_t{e.event.code};
          },
          "synex of MPI_WINEXIT, 1 for an exclusive lock, 1 for a local flush; of MPI_ERROR what "
          "the call returned, a number of the MPI library.")
      .def_property_readonly(
          "metrics", [](const PyEvent& e) { return e.archive->values(e.event.pos); },
          "Hardware counters of a Flow event.")
      .def("is_a", &is_a, py::arg("kind"),
           "Is it of this kind of the event hierarchy: 'Exit', 'MPIWExit', 'RMA_Comm' ...")
      .def_property_readonly(
          "enterptr", [](const PyEvent& e) { return event_at(e.archive, e.event.enterptr); },
          "ENTER of the region instance that it lies in; of an ENTER: its\n"
          "caller's; of an exit: its own.")
      .def_property_readonly("sendptr", &follow<&Archive::sendptr>, "RECV: its SEND.")
      .def_property_readonly("requestptr", &follow<&Archive::requestptr>,
                             "RECV, SEND_COMPLETE: the event that posted the request.")
      .def_property_readonly("startptr", &follow<&Archive::startptr>,
                             "PUT_1TE, GET_1TE: its start.")
      .def_property_readonly("originptr", &follow<&Archive::originptr>,
                             "GET_1TS: its GET_1TO; with lock grants PUT_1TS: its PUT_1TO.")
      .def_property_readonly("lockptr", &follow<&Archive::lockptr>,
                             "The previous event of the lock; of an unlock of a window: its lock.")
      .def_property_readonly("forkptr", &follow<&Archive::forkptr>, "JOIN: its FORK.")
      .def_property_readonly(
          "placeptr", &follow<&Archive::placeptr>,
          "SHMEM, PUT_1TS, MPI_GET_1TO: the SHMEM_PLACE that tells where it works.")
      .def_property_readonly(
          "writeptr", &follow<&Archive::writeptr>,
          "SHMEM_WAIT: the PUT_1TS, issued while it waited, that wrote last to\n"
          "the variable; None: it was written before. MPI_VALUE: that of the operation\n"
          "which changed the value that it has read again and again.")
      .def_property_readonly("holderptr", &follow<&Archive::holderptr>,
                             "MPI_VALUE of a swap that took a lock: the PUT_1TS of the swap with\n"
                             "which the last one had taken it who had it meanwhile.")
      .def_property_readonly("cnodeptr", &follow<&Archive::cnodeptr>,
                             "The first ENTER of its call path, on any location.")
      .def_property_readonly(
          "call_path", [](const PyEvent& e) { return number(e.archive->call_path(e.event)); },
          "Number of its call path in Trace.call_tree.")
      .def_property_readonly(
          "path",
          [](const PyEvent& e) { return path_name(*e.archive, e.archive->call_path(e.event)); },
          "Its call path: 'main/solve/MPI_Put'.")
      .def(
          "__eq__",
          [](const PyEvent& a, const PyEvent& b) {
            return a.archive == b.archive && a.event.pos == b.event.pos;
          },
          py::is_operator())  // anything else, None too, is not equal
      .def(
          "__lt__", [](const PyEvent& a, const PyEvent& b) { return a.event.pos < b.event.pos; },
          py::is_operator())
      .def("__hash__", [](const PyEvent& e) { return e.event.pos; })
      .def("__repr__", [](const PyEvent& e) {
        std::string text = "<earl.Event " + std::to_string(e.event.pos) + " " + type_name(e);
        if (const auto name = region(e)) text += (is_flow(e.event.type) ? " " : " in ") + *name;
        const auto location = number(e.event.loc);
        text += location ? " on " + std::to_string(*location) : " of no known location";
        return text + " at " + std::to_string(e.event.time.value) + ">";
      });
}

}  // namespace kojak::earl::python

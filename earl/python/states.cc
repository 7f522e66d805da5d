// The state after an event as a Python object.
#include "earl/python/module.h"

namespace kojak::earl::python {

namespace {

struct PyLock {
  ArchivePtr archive;
  sequence::WindowLock lock;
};

std::uint32_t index(const PyState& s, std::uint32_t location) {
  return location_index(*s.archive, location);
}

std::vector<PyEvent> stack(const PyState& s, std::uint32_t location) {
  std::vector<std::uint64_t> enters;
  for (const auto& open : s.now().regions.stack(index(s, location))) enters.push_back(open.enter);
  return events_at(s.archive, enters);
}

const sequence::CollectiveSet& collective_set(const PyState& s, const std::string& kind) {
  if (kind == "mpi") return s.now().mpi_collectives;
  if (kind == "window") return s.now().window_collectives;
  if (kind == "shmem") return s.now().shmem_collectives;
  if (kind == "omp") return s.now().omp_collectives;
  throw py::value_error("kind is 'mpi', 'window', 'shmem' or 'omp', not '" + kind + "'");
}

std::vector<PyInstance> collectives(const PyState& s, const std::string& kind) {
  std::vector<PyInstance> result;
  collective_set(s, kind).for_each([&](const sequence::CollectiveInstance& c) {
    result.push_back({s.archive, c});
  });
  return result;
}

std::optional<PyInstance> complete(const PyState& s, const std::string& kind) {
  const sequence::CollectiveInstance* c = collective_set(s, kind).complete();
  if (c == nullptr) return std::nullopt;
  return PyInstance{s.archive, *c};
}

std::vector<PyLock> locks(const PyState& s, std::uint32_t window, std::uint32_t target,
                          bool holding) {
  const WindowId w = known_window(*s.archive, window);
  const ProcessId t = known_process(*s.archive, target);
  std::vector<PyLock> result;
  for (const sequence::WindowLock& l :
       holding ? s.now().window_locks.holders(w, t) : s.now().window_locks.waiters(w, t)) {
    result.push_back({s.archive, l});
  }
  return result;
}

ProcessId process(const PyState& s, std::uint32_t rank) {
  return known_process(*s.archive, rank);
}

template <class List, class Make>
py::list as_list(const PyState& s, const List& list, Make&& make) {
  py::list result;
  for (const auto& item : list) result.append(make(s.archive, item));
  return result;
}

using Window = std::uint32_t;
using Rank = std::uint32_t;

void add_epoch_queries(py::class_<PyState>& state) {
  state
      .def(
          "access_epoch",
          [](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive,
                              s.now().epochs.access(process(s, p), known_window(*s.archive, w)));
          },
          py::arg("process"), py::arg("window"), "Its open access epoch, or None.")
      .def(
          "exposure_epoch",
          [](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive,
                              s.now().epochs.exposure(process(s, p), known_window(*s.archive, w)));
          },
          py::arg("process"), py::arg("window"), "Its open exposure epoch, or None.")
      .def(
          "fence_epoch",
          [](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive,
                              s.now().epochs.fence(process(s, p), known_window(*s.archive, w)));
          },
          py::arg("process"), py::arg("window"), "Its open fence epoch, or None.")
      .def(
          "lock_epoch",
          [](const PyState& s, Rank p, Window w, std::optional<Rank> target) {
            const auto& epochs = s.now().epochs;
            return make_epoch(s.archive,
                              target ? epochs.lock(process(s, p), known_window(*s.archive, w),
                                                   process(s, *target))
                                     : epochs.lock_all(process(s, p), known_window(*s.archive, w)));
          },
          py::arg("process"), py::arg("window"), py::arg("target") = py::none(),
          "Its open lock of the target, or of all (None).")
      .def(
          "epoch_pair",
          [](const PyState& s, Rank partner) -> py::object {
            const auto pair = s.now().epochs.epoch_pair(process(s, partner));
            return pair ? make_pair(s.archive, *pair) : py::none();
          },
          py::arg("partner"),
          "The event ended an access or exposure epoch: the completed pair with that partner.")
      .def_property_readonly(
          "epoch_pairs",
          [](const PyState& s) { return as_list(s, s.now().epochs.epoch_pairs(), make_pair); },
          "Pairs that the event completed.")
      .def_property_readonly(
          "access_transactions",
          [](const PyState& s) {
            return as_list(s, s.now().epochs.access_transactions(), make_transaction);
          },
          "Access transactions that the event completed.")
      .def_property_readonly(
          "exposure_transactions",
          [](const PyState& s) {
            return as_list(s, s.now().epochs.exposure_transactions(), make_transaction);
          },
          "Exposure transactions that the event completed.")
      .def_property_readonly(
          "finished_epochs",
          [](const PyState& s) { return as_list(s, s.now().epochs.finished(), make_epoch); },
          "Fence and lock epochs whose end and last transfer have come.");
}

}  // namespace

py::object make_state(const ArchivePtr& archive, std::unique_ptr<sequence::State> state) {
  return py::cast(PyState{archive, std::move(state)});
}

void add_states(py::module_& m) {
  py::class_<PyInstance>(m, "CollectiveInstance", "The exits of one collective operation.")
      .def_property_readonly(
          "group", [](const PyInstance& c) { return c.instance.group; },
          "Communicator, window, or process of the team.")
      .def_property_readonly(
          "ordinal", [](const PyInstance& c) { return c.instance.ordinal; },
          "Its number among the operations of the group, from 0.")
      .def_property_readonly(
          "size", [](const PyInstance& c) { return c.instance.size; },
          "Members that the trace has.")
      .def_property_readonly(
          "exits", [](const PyInstance& c) { return events_at(c.archive, c.instance.exits); },
          "Exit events of its members, in file order.")
      .def("__repr__", [](const PyInstance& c) {
        return "<earl.CollectiveInstance " + std::to_string(c.instance.ordinal) + " of group " +
               std::to_string(c.instance.group) + ", " + std::to_string(c.instance.exits.size()) +
               " of " + std::to_string(c.instance.size) + " exits>";
      });
  py::class_<PyLock>(m, "WindowLock", "A lock that is held or waited for.")
      .def_property_readonly("process", [](const PyLock& l) { return raw(l.lock.process); })
      .def_property_readonly(
          "target", [](const PyLock& l) { return number(l.lock.target); }, "None: all.")
      .def_property_readonly("exclusive", [](const PyLock& l) { return l.lock.exclusive; })
      .def_property_readonly(
          "event", [](const PyLock& l) { return event_at(l.archive, l.lock.lock); },
          "Its MPI_WIN_LOCK or MPI_WIN_LOCK_ALL.")
      .def("__repr__", [](const PyLock& l) {
        return std::string("<earl.WindowLock, ") + (l.lock.exclusive ? "exclusive" : "shared") +
               ", of process " + std::to_string(raw(l.lock.process)) + ">";
      });
  py::class_<PyState> state(m, "State", "The state after an event, aspect by aspect.");
  state
      .def("stack", &stack, py::arg("location"),
           "ENTERs of the open region instances, outermost first.")
      .def(
          "visits",
          [](const PyState& s, std::uint32_t path, std::uint32_t location) {
            const std::uint32_t at = index(s, location);
            if (path >= s.archive->call_tree().size()) {
              throw py::index_error("no such call path: " + std::to_string(path));
            }
            const sequence::CallPaths& paths = s.now().paths;  // those so far
            return path < paths.tree().size() ? paths.visits(static_cast<CallPathId>(path), at)
                                              : std::uint64_t{0};
          },
          py::arg("path"), py::arg("location"), "How often the call path has been entered.")
      .def_property_readonly(
          "messages",
          [](const PyState& s) { return events_at(s.archive, s.now().messages.sends()); },
          "SENDs that have not been received, in file order.")
      .def(
          "message_queue",
          [](const PyState& s, std::uint32_t com, Rank source, Rank destination,
             std::uint32_t tag) {
            return events_at(
                s.archive, s.now().messages.queue(static_cast<CommId>(com), process(s, source),
                                                  process(s, destination), static_cast<Tag>(tag)));
          },
          py::arg("communicator"), py::arg("source"), py::arg("destination"), py::arg("tag"),
          "Those of one queue, oldest first.")
      .def(
          "transfers",
          [](const PyState& s, std::uint32_t location) {
            index(s, location);  // or it is an error
            return events_at(s.archive, s.now().transfers.of(static_cast<LocationId>(location)));
          },
          py::arg("location"), "Starts of transfers without an end yet.")
      .def(
          "origins",
          [](const PyState& s, std::uint32_t location) {
            index(s, location);  // or it is an error
            return events_at(s.archive, s.now().origins.of(static_cast<LocationId>(location)));
          },
          py::arg("location"), "GET_1TOs whose GET_1TS has not come.")
      .def("collectives", &collectives, py::arg("kind") = "mpi",
           "Open instances: of 'mpi', 'window', 'shmem' or 'omp'.")
      .def("complete", &complete, py::arg("kind") = "mpi",
           "The instance that the event completed, or None.")
      .def(
          "holders",
          [](const PyState& s, Window w, Rank target) { return locks(s, w, target, true); },
          py::arg("window"), py::arg("target"), "Who holds the lock.")
      .def(
          "waiters",
          [](const PyState& s, Window w, Rank target) { return locks(s, w, target, false); },
          py::arg("window"), py::arg("target"), "Who waits for it.")
      .def(
          "team",
          [](const PyState& s, std::uint32_t location) {
            const auto forks = s.now().teams.open(index(s, location));
            return events_at(s.archive, {forks.begin(), forks.end()});
          },
          py::arg("location"), "FORKs that have not been joined.")
      .def(
          "lock_holder",
          [](const PyState& s, std::optional<Rank> p,
             std::uint32_t lock) -> std::optional<std::uint32_t> {
            const ProcessId owner = p ? process(s, *p) : absent<ProcessId>();
            const auto* held = s.now().thread_locks.find(owner, static_cast<LockId>(lock));
            if (held == nullptr || !held->held) return std::nullopt;
            return raw(held->holder);
          },
          py::arg("process"), py::arg("lock"),
          "Location that holds an OpenMP lock of the process, or a SHMEM lock (process None).");
  state.def("__repr__", [](const PyState& s) -> std::string {
    if (s.clock != nullptr && *s.clock != s.made) {
      return "<earl.State from which an iteration has gone on>";
    }
    std::size_t open = 0;
    for (std::uint32_t i = 0; i < s.archive->trace().location_count(); ++i) {
      open += s.now().regions.stack(i).size();
    }
    return "<earl.State: " + std::to_string(open) + " open regions, " +
           std::to_string(s.now().messages.in_flight()) + " messages under way, " +
           std::to_string(s.now().transfers.size()) + " open transfers>";
  });
  add_epoch_queries(state);
}

}  // namespace kojak::earl::python

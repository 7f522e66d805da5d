// The state after an event as a Python object.
#include "earl/python/module.h"

namespace kojak::earl::python {

py::object make_epoch(const ArchivePtr& archive, const sequence::Epoch* epoch);
py::object make_pair(const ArchivePtr& archive, const sequence::EpochPair& pair);
py::object make_transaction(const ArchivePtr& archive, const sequence::Transaction& transaction);

namespace {

struct PyState {
  ArchivePtr archive;
  std::shared_ptr<const sequence::State> state;
};
struct PyInstance {
  ArchivePtr archive;
  sequence::CollectiveInstance instance;
};
struct PyLock {
  ArchivePtr archive;
  sequence::WindowLock lock;
};

std::uint32_t index(const PyState& s, std::uint32_t location) {
  const std::uint32_t i = s.archive->trace().index(static_cast<LocationId>(location));
  if (i == kAbsent) throw py::index_error("no such location: " + std::to_string(location));
  return i;
}

std::vector<PyEvent> stack(const PyState& s, std::uint32_t location) {
  std::vector<std::uint64_t> enters;
  for (const auto& open : s.state->regions.stack(index(s, location))) enters.push_back(open.enter);
  return events_at(s.archive, enters);
}

const sequence::CollectiveSet& collective_set(const PyState& s, const std::string& kind) {
  if (kind == "mpi") return s.state->mpi_collectives;
  if (kind == "window") return s.state->window_collectives;
  if (kind == "shmem") return s.state->shmem_collectives;
  if (kind == "omp") return s.state->omp_collectives;
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
  const auto w = static_cast<WindowId>(window);
  const auto t = static_cast<ProcessId>(target);
  std::vector<PyLock> result;
  for (const sequence::WindowLock& l :
       holding ? s.state->window_locks.holders(w, t) : s.state->window_locks.waiters(w, t)) {
    result.push_back({s.archive, l});
  }
  return result;
}

// process < process_count, or the error that says so
ProcessId process(const PyState& s, std::uint32_t rank) {
  if (rank >= s.archive->trace().process_count()) {
    throw py::index_error("no such process: " + std::to_string(rank));
  }
  return static_cast<ProcessId>(rank);
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
  const auto id = [](Window w) { return static_cast<WindowId>(w); };
  state
      .def(
          "access_epoch",
          [id](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive, s.state->epochs.access(process(s, p), id(w)));
          },
          py::arg("process"), py::arg("window"), "Its open access epoch, or None.")
      .def(
          "exposure_epoch",
          [id](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive, s.state->epochs.exposure(process(s, p), id(w)));
          },
          py::arg("process"), py::arg("window"), "Its open exposure epoch, or None.")
      .def(
          "fence_epoch",
          [id](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive, s.state->epochs.fence(process(s, p), id(w)));
          },
          py::arg("process"), py::arg("window"), "Its open fence epoch, or None.")
      .def(
          "lock_epoch",
          [id](const PyState& s, Rank p, Window w, std::optional<Rank> target) {
            const auto& epochs = s.state->epochs;
            return make_epoch(s.archive,
                              target ? epochs.lock(process(s, p), id(w), process(s, *target))
                                     : epochs.lock_all(process(s, p), id(w)));
          },
          py::arg("process"), py::arg("window"), py::arg("target") = py::none(),
          "Its open lock of the target, or of all (None).")
      .def(
          "epoch_pair",
          [](const PyState& s, Rank partner) -> py::object {
            const auto pair = s.state->epochs.epoch_pair(process(s, partner));
            return pair ? make_pair(s.archive, *pair) : py::none();
          },
          py::arg("partner"),
          "The event ended an access or exposure epoch: the completed pair with that partner.")
      .def_property_readonly(
          "epoch_pairs",
          [](const PyState& s) { return as_list(s, s.state->epochs.epoch_pairs(), make_pair); },
          "Pairs that the event completed.")
      .def_property_readonly(
          "access_transactions",
          [](const PyState& s) {
            return as_list(s, s.state->epochs.access_transactions(), make_transaction);
          },
          "Access transactions that the event completed.")
      .def_property_readonly(
          "exposure_transactions",
          [](const PyState& s) {
            return as_list(s, s.state->epochs.exposure_transactions(), make_transaction);
          },
          "Exposure transactions that the event completed.")
      .def_property_readonly(
          "finished_epochs",
          [](const PyState& s) { return as_list(s, s.state->epochs.finished(), make_epoch); },
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
      .def_property_readonly("ordinal", [](const PyInstance& c) { return c.instance.ordinal; })
      .def_property_readonly("size", [](const PyInstance& c) { return c.instance.size; })
      .def_property_readonly(
          "exits", [](const PyInstance& c) { return events_at(c.archive, c.instance.exits); });
  py::class_<PyLock>(m, "WindowLock", "A lock that is held or waited for.")
      .def_property_readonly("process", [](const PyLock& l) { return raw(l.lock.process); })
      .def_property_readonly("target", [](const PyLock& l) { return number(l.lock.target); })
      .def_property_readonly("exclusive", [](const PyLock& l) { return l.lock.exclusive; })
      .def_property_readonly("event",
                             [](const PyLock& l) { return event_at(l.archive, l.lock.lock); });
  py::class_<PyState> state(m, "State", "The state after an event, aspect by aspect.");
  state
      .def("stack", &stack, py::arg("location"),
           "ENTERs of the open region instances, outermost first.")
      .def(
          "visits",
          [](const PyState& s, std::uint32_t path, std::uint32_t location) {
            if (path >= s.state->paths.tree().size()) return std::uint64_t{0};
            return s.state->paths.visits(static_cast<CallPathId>(path), index(s, location));
          },
          py::arg("path"), py::arg("location"), "How often the call path has been entered.")
      .def_property_readonly(
          "messages",
          [](const PyState& s) { return events_at(s.archive, s.state->messages.sends()); },
          "SENDs that have not been received, in file order.")
      .def(
          "message_queue",
          [](const PyState& s, std::uint32_t com, Rank source, Rank destination,
             std::uint32_t tag) {
            return events_at(
                s.archive, s.state->messages.queue(static_cast<CommId>(com), process(s, source),
                                                   process(s, destination), static_cast<Tag>(tag)));
          },
          py::arg("communicator"), py::arg("source"), py::arg("destination"), py::arg("tag"),
          "Those of one queue, oldest first.")
      .def(
          "transfers",
          [](const PyState& s, std::uint32_t location) {
            return events_at(s.archive, s.state->transfers.of(static_cast<LocationId>(location)));
          },
          py::arg("location"), "Starts of transfers without an end yet.")
      .def(
          "origins",
          [](const PyState& s, std::uint32_t location) {
            return events_at(s.archive, s.state->origins.of(static_cast<LocationId>(location)));
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
            const auto forks = s.state->teams.open(index(s, location));
            return events_at(s.archive, {forks.begin(), forks.end()});
          },
          py::arg("location"), "FORKs that have not been joined.")
      .def(
          "lock_holder",
          [](const PyState& s, std::optional<Rank> p,
             std::uint32_t lock) -> std::optional<std::uint32_t> {
            const ProcessId owner = p ? process(s, *p) : absent<ProcessId>();
            const auto* held = s.state->thread_locks.find(owner, static_cast<LockId>(lock));
            if (held == nullptr || !held->held) return std::nullopt;
            return raw(held->holder);
          },
          py::arg("process"), py::arg("lock"),
          "Location that holds an OpenMP lock of the process, or a SHMEM lock (process None).");
  add_epoch_queries(state);
}

}  // namespace kojak::earl::python

// The state after an event as a Python object.
#include "earl/python/module.h"

namespace kojak::earl::python {

namespace {

struct PyLock {
  ArchivePtr archive;
  sequence::WindowLock lock;
};

std::uint32_t index(const PyState& s, std::uint32_t location) {
  return location_index(*s.archive(), location);
}

std::vector<PyEvent> stack(const PyState& s, std::uint32_t location) {
  return events_at(s.archive(), s.stack(index(s, location)));
}

const sequence::CollectiveSet& collective_set(const PyState& s, const std::string& kind) {
  if (kind == "mpi") return s.get<sequence::CollectiveInstances<sequence::MpiExit>>();
  if (kind == "window") return s.get<sequence::CollectiveInstances<sequence::WindowExit>>();
  if (kind == "shmem") return s.get<sequence::CollectiveInstances<sequence::ShmemExit>>();
  if (kind == "omp") return s.get<sequence::CollectiveInstances<sequence::OmpExit>>();
  throw py::value_error("kind is 'mpi', 'window', 'shmem' or 'omp', not '" + kind + "'");
}

std::vector<PyInstance> open_collectives(const PyState& s, const std::string& kind) {
  std::vector<PyInstance> result;
  collective_set(s, kind).for_each([&](const sequence::CollectiveInstance& c) {
    result.push_back({s.archive(), c});
  });
  return result;
}

std::optional<PyInstance> complete(const PyState& s, const std::string& kind) {
  const PyState nothing(s.archive(), kNoEvent);
  const sequence::CollectiveInstance* c =
      collective_set(s.may_complete() ? s : nothing, kind).complete();
  if (c == nullptr) return std::nullopt;
  return PyInstance{s.archive(), *c};
}

std::vector<PyLock> locks(const PyState& s, std::uint32_t window, std::uint32_t target,
                          bool holding) {
  const WindowId w = known_window(*s.archive(), window);
  const ProcessId t = known_process(*s.archive(), target);
  std::vector<PyLock> result;
  for (const sequence::WindowLock& l : holding ? s.get<sequence::WindowLocks>().holders(w, t)
                                               : s.get<sequence::WindowLocks>().waiters(w, t)) {
    result.push_back({s.archive(), l});
  }
  return result;
}

ProcessId process(const PyState& s, std::uint32_t rank) {
  return known_process(*s.archive(), rank);
}

// What the event completed, by a question to the epochs.
template <class Make, class Query>
py::list completed(const PyState& s, Make&& make, Query&& query) {
  py::list result;
  if (!s.may_complete()) return result;
  for (const auto& item : query(s.get<sequence::Epochs>())) {
    result.append(make(s.archive(), item));
  }
  return result;
}

using Window = std::uint32_t;
using Rank = std::uint32_t;

void add_epoch_queries(py::class_<PyState>& state) {
  state
      .def(
          "access_epoch",
          [](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive(), s.get<sequence::Epochs>().access(
                                               process(s, p), known_window(*s.archive(), w)));
          },
          py::arg("process"), py::arg("window"), "Its open access epoch, or None.")
      .def(
          "exposure_epoch",
          [](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive(), s.get<sequence::Epochs>().exposure(
                                               process(s, p), known_window(*s.archive(), w)));
          },
          py::arg("process"), py::arg("window"), "Its open exposure epoch, or None.")
      .def(
          "fence_epoch",
          [](const PyState& s, Rank p, Window w) {
            return make_epoch(s.archive(), s.get<sequence::Epochs>().fence(
                                               process(s, p), known_window(*s.archive(), w)));
          },
          py::arg("process"), py::arg("window"), "Its open fence epoch, or None.")
      .def(
          "lock_epoch",
          [](const PyState& s, Rank p, Window w, std::optional<Rank> target) {
            const auto& epochs = s.get<sequence::Epochs>();
            return make_epoch(
                s.archive(),
                target
                    ? epochs.lock(process(s, p), known_window(*s.archive(), w), process(s, *target))
                    : epochs.lock_all(process(s, p), known_window(*s.archive(), w)));
          },
          py::arg("process"), py::arg("window"), py::arg("target") = py::none(),
          "Its open lock of the target, or of all (None).")
      .def(
          "epoch_pair",
          [](const PyState& s, Rank partner) -> py::object {
            const ProcessId known = process(s, partner);
            if (!s.may_complete()) return py::none();
            const auto pair = s.get<sequence::Epochs>().epoch_pair(known);
            return pair ? make_pair(s.archive(), *pair) : py::none();
          },
          py::arg("partner"),
          "The event ended an access or exposure epoch: the completed pair with that partner.")
      .def_property_readonly(
          "epoch_pairs",
          [](const PyState& s) {
            return completed(s, make_pair, [](const auto& epochs) { return epochs.epoch_pairs(); });
          },
          "Pairs that the event completed.")
      .def_property_readonly(
          "access_transactions",
          [](const PyState& s) {
            return completed(s, make_transaction,
                             [](const auto& epochs) { return epochs.access_transactions(); });
          },
          "Access transactions that the event completed.")
      .def_property_readonly(
          "exposure_transactions",
          [](const PyState& s) {
            return completed(s, make_transaction,
                             [](const auto& epochs) { return epochs.exposure_transactions(); });
          },
          "Exposure transactions that the event completed.")
      .def_property_readonly(
          "finished_epochs",
          [](const PyState& s) {
            return completed(s, make_epoch, [](const auto& epochs) { return epochs.finished(); });
          },
          "Fence and lock epochs whose end and last transfer have come.");
}

void add_parts(py::module_& m) {
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
}

}  // namespace

std::vector<std::uint64_t> PyState::stack(std::uint32_t index) const {
  std::vector<std::uint64_t> enters;
  if (pos_ == kNoEvent) return enters;
  for (const auto& open : archive_->stack(pos_, index)) enters.push_back(open.enter);
  return enters;
}

bool PyState::may_complete() const {
  if (pos_ == kNoEvent) return false;
  const Event event = (*archive_)[pos_];
  return event.type != EventType::kExit && event.type != EventType::kEnter;
}

void add_states(py::module_& m) {
  add_parts(m);
  py::class_<PyState> state(m, "State", "The state after an event, aspect by aspect.");
  state
      .def("stack", &stack, py::arg("location"),
           "ENTERs of the open region instances, outermost first.")
      .def(
          "visits",
          [](const PyState& s, std::uint32_t path, std::uint32_t location) {
            const std::uint32_t at = index(s, location);
            if (path >= s.archive()->call_tree().size()) {
              throw py::index_error("no such call path: " + std::to_string(path));
            }
            const sequence::CallPaths& paths = s.get<sequence::CallPaths>();  // those so far
            return path < paths.tree().size() ? paths.visits(static_cast<CallPathId>(path), at)
                                              : std::uint64_t{0};
          },
          py::arg("path"), py::arg("location"), "How often the call path has been entered.")
      .def_property_readonly(
          "messages",
          [](const PyState& s) {
            return events_at(s.archive(), s.get<sequence::MessageQueues>().sends());
          },
          "SENDs that have not been received, in file order.")
      .def(
          "message_queue",
          [](const PyState& s, std::uint32_t com, Rank source, Rank destination,
             std::uint32_t tag) {
            return events_at(s.archive(), s.get<sequence::MessageQueues>().queue(
                                              static_cast<CommId>(com), process(s, source),
                                              process(s, destination), static_cast<Tag>(tag)));
          },
          py::arg("communicator"), py::arg("source"), py::arg("destination"), py::arg("tag"),
          "Those of one queue, oldest first.")
      .def(
          "transfers",
          [](const PyState& s, std::uint32_t location) {
            index(s, location);  // or it is an error
            return events_at(s.archive(), s.get<sequence::TransferQueues>().of(
                                              static_cast<LocationId>(location)));
          },
          py::arg("location"), "Starts of transfers without an end yet.")
      .def(
          "origins",
          [](const PyState& s, std::uint32_t location) {
            index(s, location);  // or it is an error
            return events_at(s.archive(),
                             s.get<sequence::OriginQueues>().of(static_cast<LocationId>(location)));
          },
          py::arg("location"), "GET_1TOs whose GET_1TS has not come.")
      .def("collectives", &open_collectives, py::arg("kind") = "mpi",
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
            const auto forks = s.get<sequence::ThreadTeams>().open(index(s, location));
            return events_at(s.archive(), {forks.begin(), forks.end()});
          },
          py::arg("location"), "FORKs that have not been joined.")
      .def(
          "lock_holder",
          [](const PyState& s, std::optional<Rank> p,
             std::uint32_t lock) -> std::optional<std::uint32_t> {
            const ProcessId owner = p ? process(s, *p) : absent<ProcessId>();
            const auto* held =
                s.get<sequence::ThreadLocks>().find(owner, static_cast<LockId>(lock));
            if (held == nullptr || !held->held) return std::nullopt;
            return raw(held->holder);
          },
          py::arg("process"), py::arg("lock"),
          "Location that holds an OpenMP lock of the process, or a SHMEM lock (process None).");
  state.def("__repr__", [](const PyState& s) -> std::string {
    std::size_t open = 0;
    for (std::uint32_t i = 0; i < s.archive()->trace().location_count(); ++i) {
      open += s.stack(i).size();
    }
    return "<earl.State: " + std::to_string(open) + " open regions, " +
           std::to_string(s.get<sequence::MessageQueues>().in_flight()) + " messages under way, " +
           std::to_string(s.get<sequence::TransferQueues>().size()) + " open transfers>";
  });
  add_epoch_queries(state);
  add_shmem(m, state);
  add_polling(m, state);
}

}  // namespace kojak::earl::python

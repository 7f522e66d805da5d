// What a whole trace has of something: one pass over its events with the state aspect that tells
// it. And the iteration over all states.
#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

using sequence::Epochs;
using sequence::Transaction;

// f(event) after `aspect` has been given it, for all events. No Python object is touched.
template <class Aspect, class F>
void pass(const Archive& archive, Aspect& aspect, F&& f) {
  archive.for_each(0, archive.size(), [&](const Event& e) {
    aspect.apply(e);
    f(e);
  });
}

// The aspect's objects are good until the next event: so they become Python's at once.
template <class Take>
py::list from_epochs(const ArchivePtr& archive, Take&& take) {
  py::list result;
  Epochs epochs(archive->trace());
  pass(*archive, epochs, [&](const Event& e) {
    if (!is_enter(e.type) && e.type != EventType::kExit) take(epochs, result);
  });
  return result;
}

py::list access_transactions(const ArchivePtr& a) {
  return from_epochs(a, [&](const Epochs& epochs, py::list& to) {
    for (const Transaction& t : epochs.access_transactions()) to.append(make_transaction(a, t));
  });
}

py::list exposure_transactions(const ArchivePtr& a) {
  return from_epochs(a, [&](const Epochs& epochs, py::list& to) {
    for (const Transaction& t : epochs.exposure_transactions()) to.append(make_transaction(a, t));
  });
}

py::list epoch_pairs(const ArchivePtr& a) {
  return from_epochs(a, [&](const Epochs& epochs, py::list& to) {
    for (const sequence::EpochPair& p : epochs.epoch_pairs()) to.append(make_pair(a, p));
  });
}

py::list finished_epochs(const ArchivePtr& a) {
  return from_epochs(a, [&](const Epochs& epochs, py::list& to) {
    for (const sequence::Epoch* e : epochs.finished()) to.append(make_epoch(a, e));
  });
}

template <class Exit>
std::vector<PyInstance> instances(const ArchivePtr& archive) {
  const py::gil_scoped_release unlocked;
  std::vector<PyInstance> result;
  sequence::CollectiveInstances<Exit> aspect(archive->trace());
  pass(*archive, aspect, [&](const Event&) {
    if (aspect.complete() != nullptr) result.push_back({archive, *aspect.complete()});
  });
  return result;
}

std::vector<PyInstance> collectives(const ArchivePtr& a, const std::string& kind) {
  if (kind == "mpi") return instances<sequence::MpiExit>(a);
  if (kind == "window") return instances<sequence::WindowExit>(a);
  if (kind == "shmem") return instances<sequence::ShmemExit>(a);
  if (kind == "omp") return instances<sequence::OmpExit>(a);
  throw py::value_error("kind is 'mpi', 'window', 'shmem' or 'omp', not '" + kind + "'");
}

// One state that goes on from event to event.
struct StateIterator {
  ArchivePtr archive;
  std::uint64_t pos, end;
  std::shared_ptr<sequence::State> state;
  std::shared_ptr<std::uint64_t> clock = std::make_shared<std::uint64_t>(0);

  std::pair<PyEvent, PyState> next() {
    ++*clock;  // what was given out before is stale
    if (pos >= end) throw py::stop_iteration();
    const Event event = (*archive)[pos++];
    if (!is_absent(event.loc)) {
      Event copy = event;
      state->apply(copy);
    }
    return {PyEvent{archive, event}, PyState{archive, state, clock, *clock}};
  }
};

StateIterator states(const ArchivePtr& a, std::optional<py::ssize_t> begin,
                     std::optional<py::ssize_t> end) {
  const std::uint64_t first = bound(*a, begin, 0), last = bound(*a, end, a->size());
  auto state = first == 0 ? a->empty_state() : a->state(first - 1);
  return {a, first, last, std::move(state)};
}

}  // namespace

void add_passes(py::module_& m, py::class_<Archive, std::shared_ptr<Archive>>& trace) {
  py::class_<StateIterator>(m, "StateIterator", "Events, each with the state after it.")
      .def(
          "__iter__", [](StateIterator& it) -> StateIterator& { return it; },
          py::return_value_policy::reference_internal)
      .def("__next__", &StateIterator::next);
  trace
      .def("states", &states, py::arg("begin") = py::none(), py::arg("end") = py::none(),
           "Pairs of an event and the state after it, for one event after the other: faster than\n"
           "state(pos) for each. A state is good until the next step of the iteration.")
      .def("access_transactions", &access_transactions,
           "All access transactions, in the order in which they became complete.")
      .def("exposure_transactions", &exposure_transactions,
           "All exposure transactions, in the order in which they became complete.")
      .def("epoch_pairs", &epoch_pairs,
           "All epoch pairs, in the order in which they became complete.")
      .def("finished_epochs", &finished_epochs,
           "All fence and lock epochs, in the order in which they were over.")
      .def("collectives", &collectives, py::arg("kind") = "mpi",
           "All complete instances of 'mpi', 'window', 'shmem' or 'omp', in the order in which\n"
           "they became complete.");
}

}  // namespace kojak::earl::python

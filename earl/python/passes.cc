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

// Events, each with the state after it.
struct StateIterator {
  ArchivePtr archive;
  std::uint64_t pos, end;

  std::pair<PyEvent, PyState> next() {
    if (pos >= end) throw py::stop_iteration();
    const std::uint64_t at = pos++;
    return {PyEvent{archive, (*archive)[at]}, PyState(archive, at)};
  }
};

StateIterator states(const ArchivePtr& a, std::optional<py::ssize_t> begin,
                     std::optional<py::ssize_t> end) {
  return {a, bound(*a, begin, 0), bound(*a, end, a->size())};
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
           "Pairs of an event and the state after it, for one event after the other.")
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

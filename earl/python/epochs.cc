// Epochs, pairs and transactions as Python objects. They are copies: states go on, they stay.
#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

using sequence::Epoch;
using sequence::EpochMode;

struct PyEpoch {
  ArchivePtr archive;
  Epoch epoch;
};
struct PyOperation {
  ArchivePtr archive;
  sequence::Operation operation;
};
struct PyPair {
  PyEpoch access, exposure;
  std::vector<std::uint64_t> events;
};
struct PyTransaction {
  PyEpoch root;
  std::vector<std::optional<PyEpoch>> partners;
  std::vector<std::uint64_t> events;
  bool whole;
};

const char* mode(const PyEpoch& e) {
  constexpr const char* kModeNames[] = {"access", "exposure", "fence", "lock", "lock_all"};
  return kModeNames[static_cast<std::size_t>(e.epoch.mode)];
}

std::vector<PyOperation> operations(const PyEpoch& e) {
  std::vector<PyOperation> result;
  for (const sequence::Operation& o : e.epoch.operations) result.push_back({e.archive, o});
  return result;
}

std::vector<std::uint32_t> partners(const PyEpoch& e) {
  std::vector<std::uint32_t> result;
  for (const Epoch::Partner& p : e.epoch.partners) result.push_back(raw(p.process));
  return result;
}

}  // namespace

py::object make_epoch(const ArchivePtr& archive, const Epoch* epoch) {
  if (epoch == nullptr) return py::none();
  return py::cast(PyEpoch{archive, *epoch});
}

py::object make_pair(const ArchivePtr& archive, const sequence::EpochPair& pair) {
  return py::cast(PyPair{{archive, *pair.access}, {archive, *pair.exposure}, pair.events()});
}

py::object make_transaction(const ArchivePtr& archive, const sequence::Transaction& t) {
  PyTransaction result{{archive, *t.root}, {}, t.events(), t.whole()};
  for (const Epoch* e : t.partners) {
    result.partners.push_back(e != nullptr ? std::optional(PyEpoch{archive, *e}) : std::nullopt);
  }
  return py::cast(std::move(result));
}

void add_epochs(py::module_& m) {
  py::class_<PyOperation>(m, "Operation", "A put or a get of an epoch.")
      .def_property_readonly(
          "issued", [](const PyOperation& o) { return event_at(o.archive, o.operation.issued()); },
          "The event at the origin: PUT_1TS or GET_1TO.")
      .def_property_readonly(
          "start", [](const PyOperation& o) { return event_at(o.archive, o.operation.start); })
      .def_property_readonly(
          "end", [](const PyOperation& o) { return event_at(o.archive, o.operation.end); },
          "None while it is not complete.")
      .def_property_readonly("target", [](const PyOperation& o) { return raw(o.operation.target); })
      .def_property_readonly("is_get", [](const PyOperation& o) { return o.operation.get != 0; })
      .def_property_readonly(
          "marked", [](const PyOperation& o) { return o.operation.marked != 0; },
          "The merge could not place it: it takes part in no pattern.")
      .def("__repr__", [](const PyOperation& o) {
        return std::string("<earl.Operation ") + (o.operation.get != 0 ? "get" : "put") +
               " towards " + std::to_string(raw(o.operation.target)) + ">";
      });
  py::class_<PyEpoch>(m, "Epoch", "An epoch of a process on a window.")
      .def_property_readonly("mode", &mode, "'access', 'exposure', 'fence', 'lock', 'lock_all'.")
      .def_property_readonly("process", [](const PyEpoch& e) { return raw(e.epoch.process); })
      .def_property_readonly("window", [](const PyEpoch& e) { return raw(e.epoch.window); })
      .def_property_readonly(
          "opened", [](const PyEpoch& e) { return event_at(e.archive, e.epoch.opened); },
          "Exit of start or post, of the fence before; WIN_LOCK. None: not recorded.")
      .def_property_readonly(
          "closed", [](const PyEpoch& e) { return event_at(e.archive, e.epoch.closed); },
          "Exit of complete, wait, a true test or the fence; WIN_UNLOCK. None: still open, or\n"
          "over with the window (MPI_Win_free).")
      .def_property_readonly("partners", &partners, "World ranks of the group, in its order.")
      .def_property_readonly(
          "target",
          [](const PyEpoch& e) {
            return e.epoch.mode == EpochMode::kLock ? number(e.epoch.target) : std::nullopt;
          },
          "Of a lock; None: all.")
      .def_property_readonly("exclusive", [](const PyEpoch& e) { return e.epoch.exclusive; })
      .def_property_readonly(
          "ordinal", [](const PyEpoch& e) { return e.epoch.ordinal; },
          "Of the fence that closes it.")
      .def_property_readonly("operations", &operations,
                             "Transfers issued in it. Those of an exposure epoch are its origins'.")
      .def("__repr__", [](const PyEpoch& e) {
        return "<earl.Epoch " + std::string(mode(e)) + " of " +
               std::to_string(raw(e.epoch.process)) + " on window " +
               std::to_string(raw(e.epoch.window)) + ">";
      });
  py::class_<PyPair>(m, "EpochPair", "An access epoch and the corresponding exposure epoch.")
      .def_readonly("access", &PyPair::access)
      .def_readonly("exposure", &PyPair::exposure)
      .def_property_readonly(
          "events", [](const PyPair& p) { return events_at(p.access.archive, p.events); },
          "All its events, in file order.")
      .def("__repr__", [](const PyPair& p) {
        return "<earl.EpochPair of origin " + std::to_string(raw(p.access.epoch.process)) +
               " and target " + std::to_string(raw(p.exposure.epoch.process)) + " on window " +
               std::to_string(raw(p.access.epoch.window)) + ">";
      });
  py::class_<PyTransaction>(m, "Transaction",
                            "An access epoch with all its exposure epochs, or the other way round.")
      .def_readonly("root", &PyTransaction::root)
      .def_readonly("partners", &PyTransaction::partners,
                    "Epochs on the other side, in group order; None: not recorded.")
      .def_readonly("whole", &PyTransaction::whole, "Nothing is missing.")
      .def_property_readonly(
          "events", [](const PyTransaction& t) { return events_at(t.root.archive, t.events); },
          "All its events, in file order; transfers only between the two sides.")
      .def("__repr__", [](const PyTransaction& t) {
        return "<earl.Transaction, " + std::string(mode(t.root)) + " epoch of " +
               std::to_string(raw(t.root.epoch.process)) + " on window " +
               std::to_string(raw(t.root.epoch.window)) + " with " +
               std::to_string(t.partners.size()) + " partners>";
      });
}

}  // namespace kojak::earl::python

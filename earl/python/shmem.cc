// What the state after an event says of SHMEM, as Python objects.
#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

struct PyShmemWait {
  ArchivePtr archive;
  sequence::ShmemWait wait;
};
struct PyVariable {
  ArchivePtr archive;
  AwaitedVariable variable;
};

std::vector<PyShmemWait> make_waits(const ArchivePtr& archive,
                                    const std::vector<sequence::ShmemWait>& waits) {
  std::vector<PyShmemWait> result;
  for (const sequence::ShmemWait& wait : waits) result.push_back({archive, wait});
  return result;
}

// How a program spells the comparison; None where the record does not tell it.
std::optional<std::string> comparison(const PyVariable& v) {
  constexpr const char* kSigns[] = {"==", "!=", ">", ">=", "<", "<="};
  const unsigned code = v.variable.comparison;
  if (code == 0 || code > std::size(kSigns)) return std::nullopt;
  return kSigns[code - 1];
}

}  // namespace

void add_shmem(py::module_& m, py::class_<PyState>& state) {
  py::class_<PyVariable>(m, "AwaitedVariable", "A variable that a SHMEM call waits for.")
      .def_property_readonly(
          "event", [](const PyVariable& v) { return event_at(v.archive, v.variable.pos); },
          "Its SHMEM_WAIT; MPI_OPEN_CALL if the process ended in the call.")
      .def_property_readonly(
          "offset", [](const PyVariable& v) { return v.variable.offset; },
          "First byte in symmetric memory.")
      .def_property_readonly(
          "bytes", [](const PyVariable& v) { return v.variable.bytes; }, "0: not told.")
      .def_property_readonly("comparison", &comparison, "'==', '>' ...; None: not told.")
      .def_property_readonly(
          "value",
          [](const PyVariable& v) -> std::optional<std::uint64_t> {
            if (v.variable.comparison == 0) return std::nullopt;
            return v.variable.value;
          },
          "What it is compared with: its bits; None: not told.");
  py::class_<PyShmemWait>(m, "ShmemWait", "A SHMEM call that waits for a lock or for variables.")
      .def_property_readonly("location", [](const PyShmemWait& w) { return raw(w.wait.location); })
      .def_property_readonly(
          "event", [](const PyShmemWait& w) { return event_at(w.archive, w.wait.enter); },
          "Its ENTER.")
      .def_property_readonly("for_lock", [](const PyShmemWait& w) { return w.wait.for_lock; })
      .def_property_readonly(
          "lock", [](const PyShmemWait& w) { return number(w.wait.lock); }, "None: not told.")
      .def_property_readonly(
          "variables",
          [](const PyShmemWait& w) {
            std::vector<PyVariable> result;
            for (const auto& v : w.wait.variables) result.push_back({w.archive, v});
            return result;
          },
          "Those that the call found as it wanted them at its end; empty: not told.")
      .def("__repr__", [](const PyShmemWait& w) {
        std::string what = " for variables";
        if (w.wait.for_lock) what = " for a lock";
        if (!is_absent(w.wait.lock)) what = " for lock " + std::to_string(raw(w.wait.lock));
        return "<earl.ShmemWait of location " + std::to_string(raw(w.wait.location)) + what + ">";
      });
  state
      .def(
          "shmem_queue",
          [](const PyState& s, std::uint32_t process, std::optional<std::uint32_t> context) {
            const ProcessId known = known_process(*s.archive(), process);
            return events_at(s.archive(), s.get<sequence::SymmetricMemory>().queue(
                                              known, context.value_or(kAbsent)));
          },
          py::arg("process"), py::arg("context") = py::none(),
          "PUT_1TS and GET_1TO of its SHMEM operations that are not complete; None: of all "
          "contexts.")
      .def_property_readonly(
          "shmem_waits",
          [](const PyState& s) {
            return make_waits(s.archive(), s.get<sequence::ShmemWaits>().waits());
          },
          "SHMEM calls that wait for a lock or for variables, in the order of their ENTERs.")
      .def(
          "lock_waiters",
          [](const PyState& s, std::uint32_t lock) {
            return make_waits(
                s.archive(), s.get<sequence::ShmemWaits>().lock_waiters(static_cast<LockId>(lock)));
          },
          py::arg("lock"), "Those that wait for this SHMEM lock.");
}

}  // namespace kojak::earl::python

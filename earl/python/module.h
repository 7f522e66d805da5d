// The Python module `earl`: what its files share. Python objects hold the archive that they come
// from, so that they stay good as long as they are used. Needs the interpreter's lock, except in
// loops that say so. Errors of the library are raised as earl.Error.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "earl/access/archive.h"

namespace kojak::earl::python {

namespace py = pybind11;

using ArchivePtr = std::shared_ptr<const Archive>;

struct PyEvent {
  ArchivePtr archive;
  Event event;
};
// The state after an event. One that an iteration goes on with is stale after the next step.
struct PyState {
  ArchivePtr archive;
  std::shared_ptr<const sequence::State> state;
  std::shared_ptr<const std::uint64_t> clock = nullptr;  // of the iteration that goes on with it
  std::uint64_t made = 0;                                // its time by that clock

  const sequence::State& now() const {
    if (clock != nullptr && *clock != made) {
      throw py::value_error(
          "the iteration has gone on from this state: take what you need of it in the loop's body, "
          "or ask Trace.state(pos)");
    }
    return *state;
  }
};
struct PyInstance {
  ArchivePtr archive;
  sequence::CollectiveInstance instance;
};

// "main/solve/MPI_Put"
std::string path_name(const Archive& archive, CallPathId id);
// None for null.
std::optional<PyEvent> event_at(const ArchivePtr& archive, std::uint64_t pos);
std::vector<PyEvent> events_at(const ArchivePtr& archive, const std::vector<std::uint64_t>& list);

// std::nullopt where the identifier is absent.
template <class Id>
std::optional<std::uint32_t> number(Id id) {
  if (is_absent(id)) return std::nullopt;
  return raw(id);
}

[[noreturn]] void raise(const Error& error);

void add_errors(py::module_& m);
void add_definitions(py::module_& m);
void add_events(py::module_& m);
void add_epochs(py::module_& m);
void add_states(py::module_& m);
void add_passes(py::module_& m, py::class_<Archive, std::shared_ptr<Archive>>& trace);
void add_trace(py::module_& m);

// States as Python objects.
py::object make_state(const ArchivePtr& archive, std::unique_ptr<sequence::State> state);
py::object make_epoch(const ArchivePtr& archive, const sequence::Epoch* epoch);
py::object make_pair(const ArchivePtr& archive, const sequence::EpochPair& pair);
py::object make_transaction(const ArchivePtr& archive, const sequence::Transaction& transaction);
// Columns of the events [begin, end).
py::dict columns(const ArchivePtr& archive, const std::vector<std::string>& names,
                 std::uint64_t begin, std::uint64_t end);
py::tuple column_names();

// ---- what the caller asks for, or the error that says that there is none
std::uint32_t location_index(const Archive& archive, std::uint32_t location);
ProcessId known_process(const Archive& archive, std::uint32_t rank);
WindowId known_window(const Archive& archive, std::uint32_t window);
std::uint64_t position(const Archive& archive, py::ssize_t pos);
// As in a slice: counted from the end if negative, within the trace.
std::uint64_t bound(const Archive& archive, std::optional<py::ssize_t> pos, std::uint64_t none);
// What Trace has of the definitions.
void add_definition_properties(py::class_<Archive, std::shared_ptr<Archive>>& trace);

}  // namespace kojak::earl::python

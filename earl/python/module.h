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
void add_trace(py::module_& m);

// States as Python objects.
py::object make_state(const ArchivePtr& archive, std::unique_ptr<sequence::State> state);
py::list transactions(const ArchivePtr& archive, bool exposure);
// Columns of the events [begin, end).
py::dict columns(const ArchivePtr& archive, const std::vector<std::string>& names,
                 std::uint64_t begin, std::uint64_t end);
// What Trace has of the definitions.
void add_definition_properties(py::class_<Archive, std::shared_ptr<Archive>>& trace);

}  // namespace kojak::earl::python

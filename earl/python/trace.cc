// Trace: what a script opens. Iterators over events.
#include <cmath>
#include <limits>

#include "earl/access/byte_matrix.h"
#include "earl/python/module.h"
#include "epilog/format/text_reader.h"

namespace kojak::earl::python {
namespace {

using ArchiveHandle = std::shared_ptr<Archive>;

ArchiveHandle take(Result<Archive> archive) {
  if (!archive) raise(archive.error());
  return std::make_shared<Archive>(std::move(*archive));
}

ArchiveHandle open(const std::string& path, bool cache, std::uint64_t distance) {
  if (distance == 0) throw py::value_error("distance must be at least 1");
  auto archive = [&] {
    const py::gil_scoped_release unlocked;
    return Archive::open(path, {cache, distance});
  }();
  return take(std::move(archive));
}

ArchiveHandle from_text(const std::string& text) {
  auto bytes = text_to_trace(text);
  if (!bytes) raise(bytes.error());
  return take(Archive::from(std::move(*bytes), "text", {}));
}

// Events from a position on, of one location or all.
struct EventIterator {
  ArchivePtr archive;
  std::uint64_t pos, end;
  std::optional<std::uint32_t> location;

  PyEvent next() {
    for (; pos < end; ++pos) {
      Event e = (*archive)[pos];
      if (location && raw(e.loc) != *location) continue;
      ++pos;
      return {archive, e};
    }
    throw py::stop_iteration();
  }
};

std::uint64_t position(const Archive& a, py::ssize_t pos) {
  const auto size = static_cast<py::ssize_t>(a.size());
  if (pos < 0) pos += size;
  if (pos < 0 || pos >= size) throw py::index_error("the trace has no such event");
  return static_cast<std::uint64_t>(pos);
}

EventIterator events(const ArchiveHandle& a, std::optional<std::uint32_t> location,
                     std::optional<double> begin, std::optional<double> end) {
  return {a, begin ? a->first_at({*begin}) : 0, end ? a->first_at({*end}) : a->size(), location};
}

py::object at_time(const ArchiveHandle& a, double time) {
  // The last event at or before the time.
  const std::uint64_t after =
      a->first_at({std::nextafter(time, std::numeric_limits<double>::infinity())});
  if (after == 0) return make_state(a, std::make_unique<sequence::State>(a->trace()));
  return make_state(a, a->state(after - 1));
}

py::array_t<std::uint64_t> matrix(const ArchiveHandle& a, bool messages, bool transfers) {
  const ByteMatrix m = byte_matrix(*a, messages, transfers);
  const auto n = static_cast<py::ssize_t>(m.processes);
  py::array_t<std::uint64_t> result({n, n});
  std::copy(m.bytes.begin(), m.bytes.end(), result.mutable_data());
  return result;
}

}  // namespace

void add_trace(py::module_& m) {
  py::class_<EventIterator>(m, "EventIterator", "Events one after the other.")
      .def(
          "__iter__", [](EventIterator& it) -> EventIterator& { return it; },
          py::return_value_policy::reference_internal)
      .def("__next__", &EventIterator::next);
  py::class_<Archive, ArchiveHandle> trace(
      m, "Trace", "A merged trace: a sequence of events, and what is known after each of them.");
  trace.def("__len__", [](const Archive& a) { return a.size(); })
      .def("__getitem__",
           [](const ArchiveHandle& a, py::ssize_t pos) {
             return PyEvent{a, (*a)[position(*a, pos)]};
           })
      .def("__iter__",
           [](const ArchiveHandle& a) {
             return EventIterator{a, 0, a->size(), {}};
           })
      .def_property_readonly("path", [](const Archive& a) { return a.trace().path(); })
      .def_property_readonly("native", [](const Archive& a) { return a.trace().native(); })
      .def_property_readonly("from_cache", &Archive::from_cache,
                             "The index was taken from the file beside the trace.")
      .def_property_readonly(
          "damage",
          [](const Archive& a) -> std::optional<std::string> {
            if (!a.damage()) return std::nullopt;
            return a.damage()->message();
          },
          "Where and why the trace ends early, or None.")
      .def("events", &events, py::arg("location") = py::none(), py::arg("begin") = py::none(),
           py::arg("end") = py::none(),
           "Events of a location (None: of all) with begin <= time < end.")
      .def(
          "state",
          [](const ArchiveHandle& a, py::ssize_t pos) {
            return make_state(a, a->state(position(*a, pos)));
          },
          py::arg("pos"), "The state after this event.")
      .def("state_at", &at_time, py::arg("time"), "The state at this time.")
      .def(
          "first_at", [](const Archive& a, double t) { return a.first_at({t}); }, py::arg("time"),
          "Number of the first event at or after this time.")
      .def(
          "access_transactions", [](const ArchiveHandle& a) { return transactions(a, false); },
          "All access transactions, in the order in which they became complete.")
      .def(
          "exposure_transactions", [](const ArchiveHandle& a) { return transactions(a, true); },
          "All exposure transactions, in the order in which they became complete.")
      .def(
          "columns",
          [](const ArchiveHandle& a, std::optional<std::vector<std::string>> names,
             std::uint64_t begin, std::optional<std::uint64_t> end) {
            if (!names) names = std::vector<std::string>{"time", "type", "location", "region"};
            return columns(a, *names, begin, end.value_or(a->size()));
          },
          py::arg("names") = py::none(), py::arg("begin") = 0, py::arg("end") = py::none(),
          "numpy arrays by name: pos, time, type, location, process, region, enterptr, path,\n"
          "peer, window, communicator, tag, rmaid, bytes. -1: absent.")
      .def("byte_matrix", &matrix, py::arg("messages") = true, py::arg("transfers") = true,
           "Bytes that each process (row) moved to each other one (column).")
      .def("__repr__", [](const Archive& a) {
        return "<earl.Trace " + a.trace().path() + ", " + std::to_string(a.size()) + " events>";
      });
  add_definition_properties(trace);
  m.def("open", &open, py::arg("path"), py::arg("cache") = false,
        py::arg("distance") = EventIndex::kDistance,
        "Opens a merged trace. cache: keep the index in <path>.earl and use it next time.\n"
        "distance: events between two bookmarks of the state.");
  m.def("from_text", &from_text, py::arg("text"),
        "A trace from text as elg_print writes it; definitions may be left out.");
  py::dict types;
  for (unsigned type = 100; type < 256; ++type) {
    const std::string_view name = record_name(static_cast<std::uint8_t>(type));
    if (!name.empty()) types[py::str(std::string(name))] = type;
  }
  m.attr("TYPES") = types;  // name -> number in the column 'type'
}

}  // namespace kojak::earl::python

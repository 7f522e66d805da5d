// Trace: what a script opens. Iterators over events.
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "earl/access/byte_matrix.h"
#include "earl/python/module.h"
#include "epilog/format/text/text_reader.h"

namespace kojak::earl::python {
namespace {

using ArchiveHandle = std::shared_ptr<Archive>;

ArchiveHandle take(Result<Archive> archive) {
  if (!archive) raise(archive.error());
  return std::make_shared<Archive>(std::move(*archive));
}

// A Python warning: what the caller can go on with, and should know.
void warn(const Error& error) {
  if (PyErr_WarnEx(PyExc_RuntimeWarning, error.message().c_str(), 1) < 0) {
    throw py::error_already_set();  // the caller has warnings made into exceptions
  }
}

ArchiveHandle open(const std::filesystem::path& path, bool cache, std::uint64_t /*distance*/) {
  if (path.native().find('\0') != std::string::npos) {
    throw py::value_error("the name of a file cannot contain a zero byte");
  }
  auto archive = [&] {
    const py::gil_scoped_release unlocked;
    return Archive::open(path.native(), {cache});
  }();
  ArchiveHandle result = take(std::move(archive));
  if (result->damage()) warn(*result->damage());
  if (result->cache_error()) warn(*result->cache_error());
  return result;
}

ArchiveHandle from_text(const std::string& text) {
  auto bytes = text_to_trace(text);
  if (!bytes) raise(bytes.error());
  return take(Archive::from(std::move(*bytes), "text"));
}

py::bytes text_to_bytes(const std::string& text) {
  const auto bytes = text_to_trace(text);
  if (!bytes) raise(bytes.error());
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
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

py::list slice(const ArchiveHandle& a, const py::slice& range) {
  py::ssize_t start = 0, stop = 0, step = 0, length = 0;
  if (!range.compute(static_cast<py::ssize_t>(a->size()), &start, &stop, &step, &length)) {
    throw py::error_already_set();
  }
  py::list result;
  for (; length > 0; --length, start += step) {
    result.append(PyEvent{a, (*a)[static_cast<std::uint64_t>(start)]});
  }
  return result;
}

std::optional<double> time_of(const Archive& a, bool last) {
  if (a.size() == 0) return std::nullopt;
  return a[last ? a.size() - 1 : 0].time.value;
}

std::optional<std::string> message(const std::optional<Error>& error) {
  if (!error) return std::nullopt;
  return error->message();
}

EventIterator events(const ArchiveHandle& a, std::optional<std::uint32_t> location,
                     std::optional<double> begin, std::optional<double> end) {
  if (location) location_index(*a, *location);  // or it is an error
  return {a, begin ? a->first_at({*begin}) : 0, end ? a->first_at({*end}) : a->size(), location};
}

py::object at_time(const ArchiveHandle& a, double time) {
  return py::cast(PyState(a, a->last_at({time})));
}

py::array_t<std::uint64_t> matrix(const ArchiveHandle& a, bool messages, bool transfers) {
  const ByteMatrix m = [&] {
    const py::gil_scoped_release unlocked;
    return byte_matrix(*a, messages, transfers);
  }();
  const auto n = static_cast<py::ssize_t>(m.processes);
  py::array_t<std::uint64_t> result({n, n});
  std::copy(m.bytes.begin(), m.bytes.end(), result.mutable_data());
  return result;
}

}  // namespace

std::uint64_t position(const Archive& a, py::ssize_t pos) {
  const auto size = static_cast<py::ssize_t>(a.size());
  if (pos < 0) pos += size;
  if (pos < 0 || pos >= size) {
    throw py::index_error("no such event: the trace has " + std::to_string(size));
  }
  return static_cast<std::uint64_t>(pos);
}

std::uint64_t bound(const Archive& a, std::optional<py::ssize_t> pos, std::uint64_t none) {
  if (!pos) return none;
  const auto size = static_cast<py::ssize_t>(a.size());
  return static_cast<std::uint64_t>(
      std::clamp<py::ssize_t>(*pos < 0 ? *pos + size : *pos, 0, size));
}

std::uint32_t location_index(const Archive& a, std::uint32_t location) {
  const std::uint32_t i = a.trace().index(static_cast<LocationId>(location));
  if (i == kAbsent) throw py::index_error("no such location: " + std::to_string(location));
  return i;
}

ProcessId known_process(const Archive& a, std::uint32_t rank) {
  if (rank >= a.trace().process_count()) {
    throw py::index_error("no such process: " + std::to_string(rank));
  }
  return static_cast<ProcessId>(rank);
}

WindowId known_window(const Archive& a, std::uint32_t window) {
  const auto id = static_cast<WindowId>(window);
  if (a.definitions().windows.find(id) == nullptr) {
    throw py::index_error("no such window: " + std::to_string(window));
  }
  return id;
}

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
      .def("__getitem__", &slice)
      .def("__iter__",
           [](const ArchiveHandle& a) {
             return EventIterator{a, 0, a->size(), {}};
           })
      .def_property_readonly(
          "path", [](const Archive& a) { return a.trace().path(); }, "As it was opened.")
      .def_property_readonly(
          "native", [](const Archive& a) { return a.trace().native(); },
          "Written by kojak as EPILOG 2, not by classic tools.")
      .def_property_readonly(
          "begin", [](const Archive& a) { return time_of(a, false); },
          "Time of the first event, None if there is none.")
      .def_property_readonly(
          "end", [](const Archive& a) { return time_of(a, true); }, "Time of the last event.")
      .def_property_readonly("from_cache", &Archive::from_cache,
                             "The index was taken from the file beside the trace.")
      .def_property_readonly(
          "damage", [](const Archive& a) { return message(a.damage()); },
          "Where and why the trace ends early, or None. open() warns of it.")
      .def_property_readonly(
          "cache_error", [](const Archive& a) { return message(a.cache_error()); },
          "Why the index could not be kept, or None. open() warns of it.")
      .def("events", &events, py::arg("location") = py::none(), py::arg("begin") = py::none(),
           py::arg("end") = py::none(),
           "Events of a location (None: of all) with begin <= time < end.")
      .def(
          "state",
          [](const ArchiveHandle& a, py::ssize_t pos) { return PyState(a, position(*a, pos)); },
          py::arg("pos"), "The state after this event.")
      .def("state_at", &at_time, py::arg("time"),
           "The state at this time: after the last event at or before it.")
      .def(
          "first_at", [](const Archive& a, double t) { return a.first_at({t}); }, py::arg("time"),
          "Number of the first event at or after this time.")
      .def(
          "columns",
          [](const ArchiveHandle& a, std::optional<std::vector<std::string>> names,
             std::optional<py::ssize_t> begin, std::optional<py::ssize_t> end) {
            if (!names) names = std::vector<std::string>{"time", "type", "location", "region"};
            return columns(a, *names, bound(*a, begin, 0), bound(*a, end, a->size()));
          },
          py::arg("names") = py::none(), py::arg("begin") = py::none(), py::arg("end") = py::none(),
          "numpy arrays by name, of all events or of those with begin <= pos < end. The names are\n"
          "in earl.COLUMNS. Identifiers and numbers of events are int64, -1 where there is none;\n"
          "'region' and 'path' are numbers in Trace.regions and Trace.call_tree, 'type' in TYPES.")
      .def(
          "column",
          [](const ArchivePtr& a, const std::string& name, std::optional<py::ssize_t> begin,
             std::optional<py::ssize_t> end) -> py::object {
            return columns(a, {name}, bound(*a, begin, 0), bound(*a, end, a->size()))[name.c_str()];
          },
          py::arg("name"), py::arg("begin") = py::none(), py::arg("end") = py::none(),
          "One of the columns.")
      .def("_selected",
           [](const ArchivePtr& a, const std::vector<std::string>& of_all,
              const std::vector<std::string>& of_selected, const std::vector<std::uint8_t>& types,
              std::optional<py::ssize_t> begin, std::optional<py::ssize_t> end) {
             return selected_columns(a, of_all, of_selected, types, bound(*a, begin, 0),
                                     bound(*a, end, a->size()));
           })
      .def("byte_matrix", &matrix, py::arg("messages") = true, py::arg("transfers") = true,
           "Bytes that each process (row) moved to each other one (column).")
      .def("__repr__", [](const Archive& a) {
        return "<earl.Trace " + a.trace().path() + ", " + std::to_string(a.size()) + " events" +
               (a.damage() ? ", damaged>" : ">");
      });
  add_passes(m, trace);
  add_definition_properties(trace);
  m.def(
      "open", &open, py::arg("path"), py::arg("cache") = false, py::arg("distance") = 8192,
      "Opens a merged trace. cache: keep the index in <path>.earl and use it next time.\n"
      "distance says nothing any more. Raises earl.Error for what is no trace; warns\n"
      "(RuntimeWarning) of one that is damaged, which holds the events before the damage, and of\n"
      "an index that cannot be kept.");
  m.def("from_text", &from_text, py::arg("text"),
        "A trace from text as elg_print writes it; definitions may be left out.");
  m.def("text_to_trace", &text_to_bytes, py::arg("text"),
        "The bytes of the trace file that such a text stands for.");
  py::dict types;
  for (unsigned type = 100; type < 256; ++type) {
    const std::string_view name = record_name(static_cast<std::uint8_t>(type));
    if (!name.empty()) types[py::str(std::string(name))] = type;
  }
  m.attr("TYPES") = types;  // name -> number in the column 'type'
  m.attr("COLUMNS") = column_names();
  m.attr("__version__") = KOJAK_VERSION;
}

}  // namespace kojak::earl::python

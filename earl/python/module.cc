#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

py::handle error_type;

constexpr const char* kDoc =
    "Merged traces of kojak: events with pointers, state sequences, epochs and transactions, and\n"
    "columns of millions of events as numpy arrays.\n\n"
    "    trace = earl.open('a.elg')\n"
    "    for event in trace:\n"
    "        if event.is_a('Recv'):\n"
    "            print(event.sendptr.enterptr.region)\n";

}  // namespace

void raise(const Error& error) {
  const py::object value = py::reinterpret_borrow<py::object>(error_type)(error.message());
  value.attr("file") = error.file;
  value.attr("offset") = error.offset;
  value.attr("record") = error.record;
  value.attr("field") = error.field;
  value.attr("reason") = error.reason;
  value.attr("remedy") = error.remedy;
  value.attr("exit_code") = static_cast<int>(error.code);
  PyErr_SetObject(error_type.ptr(), value.ptr());
  throw py::error_already_set();
}

void add_errors(py::module_& m) {
  PyObject* const type =
      PyErr_NewExceptionWithDoc("earl.Error",
                                "What a trace has wrong: file, offset (of the record, or None), "
                                "record, field, reason, remedy, and\n"
                                "exit_code (that the commands of kojak would end with).",
                                PyExc_Exception, nullptr);
  if (type == nullptr) throw py::error_already_set();
  error_type = type;
  m.attr("Error") = py::reinterpret_steal<py::object>(type);
}

// Tables are made by a module in Python, which is read when the first is asked for.
void add_tables(py::module_& m) {
  const auto call = [](const char* name) {
    return [name](const py::args& args, const py::kwargs& named) {
      return py::module_::import("earl_tables").attr(name)(*args, **named);
    };
  };
  m.def("load_report", call("load_report"),
        "A report of expert as a table of pandas: metric, call path, process, thread, value.");
  m.def("load_waits", call("load_waits"), "The waits of expert --json as a table of pandas.");
  const py::object trace = m.attr("Trace");
  trace.attr("to_pandas") = py::cpp_function(
      call("to_pandas"), py::name("to_pandas"), py::is_method(trace),
      "Events, calls, messages or transfers as a table of pandas: to_pandas('calls').");
}

}  // namespace kojak::earl::python

PYBIND11_MODULE(earl, m) {
  using namespace kojak::earl::python;
  m.doc() = kDoc;
  add_errors(m);
  add_definitions(m);
  add_events(m);
  add_epochs(m);
  add_states(m);
  add_trace(m);
  add_tables(m);
}

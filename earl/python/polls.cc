// Series of polls as Python objects, and what the state after an event says of them.
#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

struct PySeries {
  ArchivePtr archive;
  PolledSeries series;
};
struct PyMember {
  ArchivePtr archive;
  MpiPoll poll;
};
struct PyPolling {
  ArchivePtr archive;
  sequence::Polling polling;
};

std::optional<std::uint64_t> unless_unknown(Count64 number) {
  if (number == kUnknown64) return std::nullopt;
  return raw(number);
}
template <auto Field>
double seconds(const PySeries& s) {
  return (s.series.polled.*Field).value;
}
std::string region_name(const PyMember& m) {
  const RegionDef* const region = m.archive->definitions().regions.find(m.poll.rid);
  return region == nullptr ? "?" : region->name;
}
const char* kind_name(const PyMember& m) {
  constexpr const char* kNames[] = {"?",    "request", "message", "exposure", "read",
                                    "swap", "sync",    "shmem",   "long"};
  return raw(m.poll.kind) < std::size(kNames) ? kNames[raw(m.poll.kind)] : "?";
}
const char* class_name(const PySeries& s) {
  constexpr const char* kNames[] = {"?", "waits", "even", "works"};
  return raw(s.series.polled.judged) < std::size(kNames) ? kNames[raw(s.series.polled.judged)]
                                                         : "?";
}
const char* end_name(const PySeries& s) {
  constexpr const char* kNames[] = {"?",       "found", "other class",  "other call",
                                    "log off", "cut",   "process ended"};
  return raw(s.series.polled.end) < std::size(kNames) ? kNames[raw(s.series.polled.end)] : "?";
}
std::vector<PyMember> members(const PySeries& s) {
  std::vector<PyMember> result;
  for (const MpiPoll& poll : s.series.members) result.push_back({s.archive, poll});
  return result;
}

void add_members(py::module_& m) {
  py::class_<PyMember>(m, "Poll", "Polls of a series that are of one kind, place and arguments.")
      .def_property_readonly(
          "kind", &kind_name,
          "'request', 'message', 'exposure', 'read', 'swap', 'sync', 'shmem'; 'long': "
          "a call of 1 ms or more of a poll that another member counts.")
      .def_property_readonly("region", &region_name, "The call.")
      .def_property_readonly("call_site", [](const PyMember& p) { return number(p.poll.csid); })
      .def_property_readonly("count", [](const PyMember& p) { return raw(p.poll.count); })
      .def_property_readonly("first_enter",
                             [](const PyMember& p) { return p.poll.first_enter.value; })
      .def_property_readonly("last_enter",
                             [](const PyMember& p) { return p.poll.last_enter.value; })
      .def_property_readonly(
          "request", [](const PyMember& p) { return number(p.poll.reqid); },
          "The first of them; of a one-sided operation its rmaid.")
      .def_property_readonly("requests", [](const PyMember& p) { return raw(p.poll.requests); })
      .def_property_readonly(
          "source", [](const PyMember& p) { return number(p.poll.plid); }, "None: any, or none.")
      .def_property_readonly("communicator", [](const PyMember& p) { return number(p.poll.cid); })
      .def_property_readonly(
          "tag", [](const PyMember& p) { return number(p.poll.tag); }, "None: any, or none.")
      .def_property_readonly("window", [](const PyMember& p) { return number(p.poll.wid); })
      .def_property_readonly("target", [](const PyMember& p) { return number(p.poll.tlid); })
      .def_property_readonly(
          "displacement", [](const PyMember& p) { return unless_unknown(p.poll.disp); },
          "First byte in the target's part of the window.")
      .def_property_readonly("bytes", [](const PyMember& p) { return raw(p.poll.bytes); })
      .def_property_readonly(
          "value", [](const PyMember& p) { return raw(p.poll.value); },
          "What all of them found: the first eight bytes.");
}

}  // namespace

void add_polls(py::module_& m, py::class_<PyEvent>& event) {
  add_members(m);
  py::class_<PySeries>(m, "Polled", "A series of polls: calls in turn that found nothing yet.")
      .def_property_readonly("count", [](const PySeries& s) { return raw(s.series.polled.count); })
      .def_property_readonly("begin", &seconds<&MpiPolled::begin>, "Enter of the first of them.")
      .def_property_readonly("time", &seconds<&MpiPolled::time>, "Exit of the last of them.")
      .def_property_readonly("called", &seconds<&MpiPolled::called>, "Time in these calls.")
      .def_property_readonly("paused", &seconds<&MpiPolled::paused>, "Time in pauses between.")
      .def_property_readonly("asleep", &seconds<&MpiPolled::asleep>, "Of it, asked for.")
      .def_property_readonly("rest", &seconds<&MpiPolled::rest>, "Other time between them.")
      .def_property_readonly("least", &seconds<&MpiPolled::least>, "Shortest rest of a round.")
      .def_property_readonly(
          "ran", [](const PySeries& s) { return unless_unknown(s.series.polled.ran); },
          "Nanoseconds with a processor; None: unknown.")
      .def_property_readonly("switches",
                             [](const PySeries& s) { return raw(s.series.polled.switches); })
      .def_property_readonly("judged", &class_name, "'waits' or 'works'.")
      .def_property_readonly("end", &end_name, "What ended it: 'found', 'other call' ...")
      .def_property_readonly("goes_on", [](const PySeries& s) { return s.series.goes_on(); })
      .def_property_readonly("members", &members, "In the order of their first polls.");
  event
      .def_property_readonly(
          "series",
          [](const PyEvent& e) -> std::optional<PySeries> {
            auto series = e.archive->series(e.event.pos);
            if (!series) return std::nullopt;
            return PySeries{e.archive, std::move(*series)};
          },
          "MPI_POLLED: what it tells.")
      .def_property_readonly(
          "pollptr",
          [](const PyEvent& e) { return event_at(e.archive, e.archive->pollptr(e.event.pos)); },
          "The MPI_POLLED of the call that the event lies in, if it stands before.");
}

void add_polling(py::module_& m, py::class_<PyState>& state) {
  py::class_<PyPolling>(m, "Polling", "A series of polls that is open.")
      .def_property_readonly(
          "event", [](const PyPolling& p) { return event_at(p.archive, p.polling.enter); },
          "ENTER of its instance.")
      .def_property_readonly(
          "since", [](const PyPolling& p) { return event_at(p.archive, p.polling.since); },
          "ENTER of the first series that goes on in it.")
      .def_property_readonly(
          "judged",
          [](const PyPolling& p) {
            const auto series = p.archive->series(p.polling.polled);
            return series ? class_name({p.archive, *series}) : "?";
          },
          "'waits' or 'works'.")
      .def_property_readonly(
          "members",
          [](const PyPolling& p) {
            const auto series = p.archive->series(p.polling.polled);
            return series ? members({p.archive, *series}) : std::vector<PyMember>{};
          },
          "What it asks for. How many polls there were so far is not known within a series: their "
          "counts are of all.");
  state.def(
      "polling",
      [](const PyState& s, std::uint32_t location) -> std::optional<PyPolling> {
        (void)location_index(*s.archive(), location);
        const auto polling =
            s.get<sequence::PollSeries>().polling(static_cast<LocationId>(location));
        if (!polling) return std::nullopt;
        return PyPolling{s.archive(), *polling};
      },
      py::arg("location"), "The series of polls that the location is in; None: it does not poll.");
}

}  // namespace kojak::earl::python

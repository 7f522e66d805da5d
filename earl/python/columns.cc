// Columns of many events as numpy arrays: one pass over the trace fills them all.
#include <algorithm>
#include <array>

#include "earl/python/module.h"

namespace kojak::earl::python {
namespace {

enum class Column : std::uint8_t {
  kPos,
  kTime,
  kType,
  kLocation,
  kProcess,
  kRegion,
  kEnterptr,
  kPath,
  kPeer,
  kWindow,
  kCommunicator,
  kTag,
  kRmaid,
  kBytes,
  kThread,
  kCallSite,
  kRequest,
  kLock,
  kCode,
  kSent,
  kReceived,
  kSendptr,
  kRequestptr,
  kStartptr,
  kOriginptr,
  kLockptr,
  kForkptr,
  kCnodeptr,
  kPlaceptr,
  kWriteptr,
  kHolderptr,
};
constexpr const char* kNames[] = {
    "pos",      "time",       "type",     "location",     "process", "region",  "enterptr",
    "path",     "peer",       "window",   "communicator", "tag",     "rmaid",   "bytes",
    "thread",   "call_site",  "request",  "lock",         "code",    "sent",    "received",
    "sendptr",  "requestptr", "startptr", "originptr",    "lockptr", "forkptr", "cnodeptr",
    "placeptr", "writeptr",   "holderptr"};

struct Filled {
  Column column;
  void* data;
};

template <class T>
Filled allocate(py::dict& to, Column column, std::size_t size) {
  py::array_t<T> array(static_cast<py::ssize_t>(size));
  Filled result{column, array.mutable_data()};
  to[kNames[static_cast<std::size_t>(column)]] = std::move(array);
  return result;
}

Filled allocate_any(py::dict& to, Column column, std::size_t size) {
  switch (column) {
    case Column::kTime:
      return allocate<double>(to, column, size);
    case Column::kType:
      return allocate<std::uint8_t>(to, column, size);
    case Column::kBytes:
    case Column::kSent:
    case Column::kReceived:
      return allocate<std::uint64_t>(to, column, size);
    default:
      return allocate<std::int64_t>(to, column, size);
  }
}

// Identifiers: -1 where they are absent.
std::int64_t signed_id(std::uint32_t id) {
  return id == kAbsent ? -1 : static_cast<std::int64_t>(id);
}

std::int64_t pointer(std::uint64_t pos) {
  return pos == kNoEvent ? -1 : static_cast<std::int64_t>(pos);
}

void fill_row(const Archive& a, const Event& e, std::size_t i, const std::vector<Filled>& columns) {
  const Trace& trace = a.trace();
  for (const Filled& c : columns) {
    const auto number = [&](std::int64_t value) { static_cast<std::int64_t*>(c.data)[i] = value; };
    const auto bytes = [&](Bytes64 value) { static_cast<std::uint64_t*>(c.data)[i] = raw(value); };
    switch (c.column) {
      case Column::kPos:
        number(static_cast<std::int64_t>(e.pos));
        break;
      case Column::kTime:
        static_cast<double*>(c.data)[i] = e.time.value;
        break;
      case Column::kType:
        static_cast<std::uint8_t*>(c.data)[i] = raw(e.type);
        break;
      case Column::kLocation:
        number(signed_id(raw(e.loc)));
        break;
      case Column::kProcess: {
        const std::uint32_t at = trace.index(e.loc);
        number(at == kAbsent ? -1 : static_cast<std::int64_t>(raw(trace.process(at))));
        break;
      }
      case Column::kRegion:
        number(signed_id(raw(e.reg)));
        break;
      case Column::kEnterptr:
        number(pointer(e.enterptr));
        break;
      case Column::kPath:
        number(signed_id(raw(a.call_path(e))));
        break;
      case Column::kPeer:
        number(signed_id(raw(e.peer)));
        break;
      case Column::kWindow:
        number(signed_id(raw(e.win)));
        break;
      case Column::kCommunicator:
        number(signed_id(raw(e.com)));
        break;
      case Column::kTag:
        number(signed_id(raw(e.tag)));
        break;
      case Column::kRmaid:
        number(signed_id(raw(e.rmaid)));
        break;
      case Column::kBytes:
        bytes(raw(e.sent) != 0 ? e.sent : e.recvd);
        break;
      case Column::kSent:
        bytes(e.sent);
        break;
      case Column::kReceived:
        bytes(e.recvd);
        break;
      case Column::kThread: {
        const std::uint32_t at = trace.index(e.loc);
        number(at == kAbsent ? -1 : static_cast<std::int64_t>(raw(trace.location_def(at).thread)));
        break;
      }
      case Column::kCallSite:
        number(signed_id(raw(e.csite)));
        break;
      case Column::kRequest:
        number(signed_id(raw(e.request)));
        break;
      case Column::kLock:
        number(signed_id(raw(e.lock)));
        break;
      case Column::kCode:
        number(e.code);
        break;
      case Column::kSendptr:
        number(pointer(a.sendptr(e)));
        break;
      case Column::kRequestptr:
        number(pointer(a.requestptr(e)));
        break;
      case Column::kStartptr:
        number(pointer(a.startptr(e)));
        break;
      case Column::kOriginptr:
        number(pointer(a.originptr(e)));
        break;
      case Column::kLockptr:
        number(pointer(a.lockptr(e)));
        break;
      case Column::kForkptr:
        number(pointer(a.forkptr(e)));
        break;
      case Column::kPlaceptr:
        number(pointer(a.placeptr(e)));
        break;
      case Column::kWriteptr:
        number(pointer(a.writeptr(e)));
        break;
      case Column::kHolderptr:
        number(pointer(a.holderptr(e)));
        break;
      case Column::kCnodeptr:
        number(pointer(a.cnodeptr(e)));
        break;
    }
  }
}

std::vector<Filled> allocate_all(py::dict& to, const std::vector<std::string>& names,
                                 std::size_t size) {
  std::vector<Filled> filled;
  for (const std::string& name : names) {
    const auto it = std::find(std::begin(kNames), std::end(kNames), name);
    if (it == std::end(kNames)) {
      std::string known;
      for (const char* each : kNames) known += (known.empty() ? "" : ", ") + std::string(each);
      throw py::value_error("no such column: " + name + " (there are " + known + ")");
    }
    filled.push_back(allocate_any(to, static_cast<Column>(it - std::begin(kNames)), size));
  }
  return filled;
}

}  // namespace

py::tuple column_names() {
  py::tuple result(std::size(kNames));
  for (std::size_t i = 0; i < std::size(kNames); ++i) result[i] = kNames[i];
  return result;
}

py::dict columns(const ArchivePtr& archive, const std::vector<std::string>& names,
                 std::uint64_t begin, std::uint64_t end) {
  end = std::min(end, archive->size());
  begin = std::min(begin, end);
  py::dict result;
  const std::vector<Filled> filled = allocate_all(result, names, end - begin);
  const py::gil_scoped_release unlocked;
  archive->for_each(begin, end,
                    [&](const Event& e) { fill_row(*archive, e, e.pos - begin, filled); });
  return result;
}

py::tuple selected_columns(const ArchivePtr& archive, const std::vector<std::string>& of_all,
                           const std::vector<std::string>& of_selected,
                           const std::vector<std::uint8_t>& types, std::uint64_t begin,
                           std::uint64_t end) {
  end = std::min(end, archive->size());
  begin = std::min(begin, end);
  std::array<bool, 256> selected{};
  for (const std::uint8_t type : types) selected[type] = true;
  py::dict all, some;
  const std::vector<Filled> of_each = allocate_all(all, of_all, end - begin);
  // What is not filled takes no memory.
  const std::vector<Filled> of_some = allocate_all(some, of_selected, end - begin);
  std::size_t rows = 0;
  {
    const py::gil_scoped_release unlocked;
    archive->for_each(begin, end, [&](const Event& e) {
      fill_row(*archive, e, e.pos - begin, of_each);
      if (selected[raw(e.type)]) fill_row(*archive, e, rows++, of_some);
    });
  }
  return py::make_tuple(all, some, rows);
}

}  // namespace kojak::earl::python

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
#include <tuple>
#include <vector>

#include "earl/access/archive.h"

namespace kojak::earl::python {

namespace py = pybind11;

using ArchivePtr = std::shared_ptr<const Archive>;

struct PyEvent {
  ArchivePtr archive;
  Event event;
};
// The state after an event. Its aspects are put together when they are asked for.
class PyState {
 public:
  PyState(ArchivePtr archive, std::uint64_t pos) : archive_(std::move(archive)), pos_(pos) {}

  const ArchivePtr& archive() const { return archive_; }
  // The event; kNoEvent: the state before the first one.
  std::uint64_t pos() const { return pos_; }
  // ENTERs of the open regions of a location, by its dense number.
  std::vector<std::uint64_t> stack(std::uint32_t index) const;
  // Whether the event can have completed something: most begin or end a call and nothing else.
  bool may_complete() const;

  template <class Aspect>
  const Aspect& get() const {
    std::shared_ptr<Aspect>& aspect = std::get<std::shared_ptr<Aspect>>(aspects_);
    if (aspect == nullptr) {
      const Trace& trace = archive_->trace();
      if constexpr (std::is_same_v<Aspect, sequence::MessageQueues>) {
        aspect = std::make_shared<Aspect>(trace, archive_->index().messages());
      } else {
        aspect = std::make_shared<Aspect>(trace);
      }
      if (pos_ != kNoEvent) archive_->restore(pos_, *aspect);
    }
    return *aspect;
  }

 private:
  template <class... Aspect>
  using Aspects = std::tuple<std::shared_ptr<Aspect>...>;

  ArchivePtr archive_;
  std::uint64_t pos_;
  mutable Aspects<sequence::CallPaths, sequence::MessageQueues, sequence::TransferQueues,
                  sequence::OriginQueues, sequence::CollectiveInstances<sequence::MpiExit>,
                  sequence::CollectiveInstances<sequence::WindowExit>,
                  sequence::CollectiveInstances<sequence::ShmemExit>,
                  sequence::CollectiveInstances<sequence::OmpExit>, sequence::Epochs,
                  sequence::WindowLocks, sequence::ThreadLocks, sequence::ShmemWaits,
                  sequence::PollSeries, sequence::SymmetricMemory, sequence::ThreadTeams>
      aspects_;
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
void add_shmem(py::module_& m, py::class_<PyState>& state);
void add_polls(py::module_& m, py::class_<PyEvent>& event);
void add_polling(py::module_& m, py::class_<PyState>& state);
void add_passes(py::module_& m, py::class_<Archive, std::shared_ptr<Archive>>& trace);
void add_trace(py::module_& m);

// Parts of states as Python objects.
py::object make_epoch(const ArchivePtr& archive, const sequence::Epoch* epoch);
py::object make_pair(const ArchivePtr& archive, const sequence::EpochPair& pair);
py::object make_transaction(const ArchivePtr& archive, const sequence::Transaction& transaction);
// Columns of the events [begin, end).
py::dict columns(const ArchivePtr& archive, const std::vector<std::string>& names,
                 std::uint64_t begin, std::uint64_t end);
// Columns of all these events, and others of those that are of some types: two dicts, and how many
// rows of the second one are filled.
py::tuple selected_columns(const ArchivePtr& archive, const std::vector<std::string>& of_all,
                           const std::vector<std::string>& of_selected,
                           const std::vector<std::uint8_t>& types, std::uint64_t begin,
                           std::uint64_t end);
py::tuple column_names();

// ---- what the caller asks for, or the error that says that there is none
std::uint32_t location_index(const Archive& archive, std::uint32_t location);
ProcessId known_process(const Archive& archive, std::uint32_t rank);
WindowId known_window(const Archive& archive, std::uint32_t window);
std::uint64_t position(const Archive& archive, py::ssize_t pos);
// A place as in a slice: counted from the end if negative, within the trace.
std::uint64_t bound(const Archive& archive, std::optional<py::ssize_t> pos, std::uint64_t none);
// What Trace has of the definitions.
void add_definition_properties(py::class_<Archive, std::shared_ptr<Archive>>& trace);

}  // namespace kojak::earl::python

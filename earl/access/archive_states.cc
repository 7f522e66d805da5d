// The state after an event, put together from the columns of the index.
#include <algorithm>

#include "earl/access/archive.h"

namespace kojak::earl {
namespace {

// The events with which what is there after `pos` began, in file order.
std::vector<std::uint64_t> begins_at(const IntervalColumn& column, std::uint64_t pos) {
  std::vector<std::uint64_t> result;
  column.at(pos, [&](const IntervalColumn::Row& row) { result.push_back(row.begin); });
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

std::unique_ptr<sequence::State> Archive::state(std::uint64_t pos) const {
  auto state = std::make_unique<sequence::State>(*trace_, index_.messages());
  if (pos == kNoEvent) return state;
  restore(pos, state->regions);
  restore(pos, state->paths);
  restore(pos, state->messages);
  restore(pos, state->transfers);
  restore(pos, state->origins);
  restore(pos, state->mpi_collectives);
  restore(pos, state->window_collectives);
  restore(pos, state->shmem_collectives);
  restore(pos, state->omp_collectives);
  restore(pos, state->epochs);
  restore(pos, state->window_locks);
  restore(pos, state->thread_locks);
  restore(pos, state->shmem_waits);
  restore(pos, state->symmetric);
  restore(pos, state->teams);
  restore(pos, state->polls);
  restore(pos, state->values);
  return state;
}

template <class Aspect>
void Archive::apply_what_is_there(const IntervalColumn& column, std::uint64_t pos,
                                  Aspect& to) const {
  if (pos > 0) {
    for (const std::uint64_t begin : begins_at(column, pos - 1)) to.apply((*this)[begin]);
  }
  const Event event = (*this)[pos];
  if (!is_absent(event.loc)) to.apply(event);
}

std::vector<sequence::OpenRegion> Archive::stack(std::uint64_t pos, std::uint32_t location) const {
  std::vector<sequence::OpenRegion> result;
  for (const std::uint64_t enter : begins_at(index_.columns().calls[location], pos)) {
    result.push_back({enter, call_tree()[static_cast<CallPathId>(index_.raw_link(enter))].region});
  }
  return result;
}

void Archive::restore(std::uint64_t pos, sequence::RegionStacks& to) const {
  for (std::uint32_t i = 0; i < trace_->location_count(); ++i) to.restore(i, stack(pos, i));
}

void Archive::restore(std::uint64_t pos, sequence::CallPaths& to) const {
  to.restore(index_, pos, call_path(pos));
}

void Archive::restore(std::uint64_t pos, sequence::MessageQueues& to) const {
  apply_what_is_there(index_.columns().sends, pos, to);
}

void Archive::restore(std::uint64_t pos, sequence::TransferQueues& to) const {
  apply_what_is_there(index_.columns().transfers, pos, to);
}

void Archive::restore(std::uint64_t pos, sequence::OriginQueues& to) const {
  apply_what_is_there(index_.columns().origins, pos, to);
}

void Archive::restore(std::uint64_t pos,
                      sequence::CollectiveInstances<sequence::MpiExit>& to) const {
  to.restore(index_.columns().mpi_collectives, pos);
}

void Archive::restore(std::uint64_t pos,
                      sequence::CollectiveInstances<sequence::WindowExit>& to) const {
  to.restore(index_.columns().window_collectives, pos);
}

void Archive::restore(std::uint64_t pos,
                      sequence::CollectiveInstances<sequence::ShmemExit>& to) const {
  to.restore(index_.columns().shmem_collectives, pos);
}

void Archive::restore(std::uint64_t pos,
                      sequence::CollectiveInstances<sequence::OmpExit>& to) const {
  to.restore(index_.columns().omp_collectives, pos);
}

void Archive::restore(std::uint64_t pos, sequence::Epochs& to) const {
  to.restore(index_.columns().epochs, pos);
}

void Archive::restore(std::uint64_t pos, sequence::WindowLocks& to) const {
  std::vector<IntervalColumn::Row> rows;
  index_.columns().window_locks.at(pos, [&](const auto& row) { rows.push_back(row); });
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (const IntervalColumn::Row& row : rows) to.restore((*this)[row.begin], row, pos);
  to.restore_lockptr(is_rma_sync(type(pos)) ? index_.link(pos) : kNoEvent);
}

void Archive::restore(std::uint64_t pos, sequence::ThreadLocks& to) const {
  apply_what_is_there(index_.columns().thread_locks, pos, to);
}

void Archive::restore(std::uint64_t pos, sequence::ShmemWaits& to) const {
  index_.columns().shmem_waits.at(pos, [&](const IntervalColumn::Row& row) {
    to.restore((*this)[row.begin], row, [&](std::uint64_t told) { return (*this)[told]; });
  });
}

void Archive::restore(std::uint64_t pos, sequence::SymmetricMemory& to) const {
  for (const std::uint64_t begin : begins_at(index_.columns().symmetric, pos)) {
    const std::uint64_t place = placeptr(begin);
    to.restore((*this)[begin], place == kNoEvent ? 0 : (*this)[place].context);
  }
  const bool is_wait = type(pos) == EventType::kShmemWait;
  to.restore_pointers(placeptr(pos), is_wait ? writeptr(pos) : kNoEvent);
}

void Archive::restore(std::uint64_t pos, sequence::PollSeries& to) const {
  index_.columns().polls.at(
      pos, [&](const IntervalColumn::Row& row) { to.restore((*this)[row.begin].loc, row); });
}

void Archive::restore(std::uint64_t pos, sequence::WindowValues& to) const {
  const bool is_value = type(pos) == EventType::kMpiValue;
  to.restore_pointers(is_value ? writeptr(pos) : kNoEvent, holderptr(pos));
}

void Archive::restore(std::uint64_t pos, sequence::ThreadTeams& to) const {
  apply_what_is_there(index_.columns().teams, pos, to);
}

}  // namespace kojak::earl

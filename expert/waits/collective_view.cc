#include "expert/waits/collective_view.h"

namespace kojak::expert {

namespace {

MpiRole rule_of(ShmemRole role) {
  switch (role) {
    case ShmemRole::kBroadcast:
    case ShmemRole::kScatter:
      return MpiRole::kOneToAll;
    case ShmemRole::kGather:
    case ShmemRole::kReduceToOne:
      return MpiRole::kAllToOne;
    case ShmemRole::kPrefixReduce:
      return MpiRole::kPrefix;
    case ShmemRole::kCollect:
    case ShmemRole::kAlltoall:
    case ShmemRole::kPermute:
      return MpiRole::kAllToAll;
    default:
      return MpiRole::kOther;
  }
}

}  // namespace

bool CollectiveView::waits_for_all() const {
  if (!instance_->intercommunicator) return true;
  switch (rule_) {
    case MpiRole::kOneToAll:
    case MpiRole::kAllToOne:
      return false;
    default:
      return true;
  }
}

bool CollectiveView::supplies(const Member& other, const Member& m) const {
  switch (rule_) {
    case MpiRole::kOneToAll:
      return &other == root_ && &m != root_;
    case MpiRole::kAllToOne:
      return &m == root_ && &other != root_;
    case MpiRole::kPrefix:
      return other.rank < m.rank;
    default:
      return &other != &m;
  }
}

void CollectiveView::look_at(const earl::CollectiveInstance& instance,
                             const Definitions& definitions) {
  instance_ = &instance;
  upc_ = instance.members.front().call.function == nullptr ? definitions.shmem(instance.region)
                                                           : nullptr;
  if (upc_ != nullptr && upc_->model != PgasModel::kUpc) upc_ = nullptr;
  notified_ = upc_ != nullptr && upc_->role == ShmemRole::kNotify;
  if (notified_) upc_ = nullptr;  // a barrier of MPI's
  rule_ = upc_ == nullptr ? role() : rule_of(upc_->role);
  local_size_ = std::numeric_limits<std::uint32_t>::max();
  if (instance.intercommunicator) [[unlikely]] {
    const CommDef* comm = definitions.comms.find(instance.com);
    if (comm != nullptr) local_size_ = static_cast<std::uint32_t>(comm->ranks.size());
  }
  sides_[0] = sides_[1] = Side{};
  root_ = first_contributor_ = last_contributor_ = nullptr;
  last_in_ = first_out_ = &instance.members.front();
  for (const Member& m : instance.members) {
    Side& side = sides_[second(m)];
    if (side.last_in == nullptr || side.last_in->call.enter < m.call.enter) side.last_in = &m;
    side.first_exit = std::min(side.first_exit, m.call.exit);
    if (last_in_->call.enter < m.call.enter) last_in_ = &m;
    if (m.call.exit < first_out_->call.exit) first_out_ = &m;
    if (!is_absent(instance.root) && raw(m.call.process) == raw(instance.root)) root_ = &m;
  }
  if (rule_ == MpiRole::kAllToOne) find_contributors();
  if (rule_ == MpiRole::kPrefix) find_lower_ranks();
  if (rule_ == MpiRole::kNeighbor) find_neighbours(definitions);
}

const CollectiveView::Member* CollectiveView::awaited(const Member& m) const {
  switch (rule_) {
    case MpiRole::kOneToAll:
      return root_ != nullptr && &m != root_ && exchange(*root_, m) ? root_ : nullptr;
    case MpiRole::kAllToOne:
      return &m == root_ ? last_contributor_ : nullptr;
    case MpiRole::kPrefix:
    case MpiRole::kNeighbor:
      return awaited_[place(m)];
    default:
      return waits_for_all() ? last_in_ : sides_[1 - second(m)].last_in;
  }
}

// Those that send data to the root. If nobody does, as far as the trace tells, all that could.
void CollectiveView::find_contributors() {
  if (root_ == nullptr) return;
  for (const bool with_data : {true, false}) {
    for (const Member& m : instance_->members) {
      if (&m == root_ || !exchange(*root_, m) || (with_data && raw(m.sent) == 0)) continue;
      const Member*& first = first_contributor_;
      const Member*& last = last_contributor_;
      if (first == nullptr || m.call.enter < first->call.enter) first = &m;
      if (last == nullptr || last->call.enter < m.call.enter) last = &m;
    }
    if (last_contributor_ != nullptr) return;
  }
}

void CollectiveView::find_lower_ranks() {
  sorted_.clear();
  for (const Member& m : instance_->members) sorted_.push_back(&m);
  std::sort(sorted_.begin(), sorted_.end(),
            [](const Member* a, const Member* b) { return a->rank < b->rank; });
  awaited_.assign(instance_->members.size(), nullptr);
  const Member* latest = nullptr;  // of the ranks below
  for (const Member* m : sorted_) {
    awaited_[place(*m)] = latest;
    if (latest == nullptr || latest->call.enter < m->call.enter) latest = m;
  }
}

// Who has no neighbours recorded waits for nobody, as far as the trace tells.
void CollectiveView::find_neighbours(const Definitions& definitions) {
  awaited_.assign(instance_->members.size(), nullptr);
  const CommDef* comm = definitions.comms.find(instance_->com);
  if (comm == nullptr || comm->neighbours.empty()) return;
  sorted_.clear();
  for (const Member& m : instance_->members) sorted_.push_back(&m);
  const auto process = [](const Member* m) { return raw(m->call.process); };
  std::sort(sorted_.begin(), sorted_.end(),
            [&](const Member* a, const Member* b) { return process(a) < process(b); });
  for (const Member& m : instance_->members) {
    const auto lists = comm->neighbours.find(process(&m));
    if (lists == comm->neighbours.end()) continue;
    const Member*& latest = awaited_[place(m)];
    for (const std::uint32_t source : lists->second.sources) {
      const auto at =
          std::lower_bound(sorted_.begin(), sorted_.end(), source,
                           [&](const Member* a, std::uint32_t rank) { return process(a) < rank; });
      if (at == sorted_.end() || process(*at) != source || raw((*at)->sent) == 0) continue;
      if (latest == nullptr || latest->call.enter < (*at)->call.enter) latest = *at;
    }
  }
}

}  // namespace kojak::expert

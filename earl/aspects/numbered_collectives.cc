#include "earl/aspects/numbered_collectives.h"

#include <utility>

#include "epilog/format/collective_operations.h"
#include "epilog/format/field_values.h"
#include "epilog/format/mpi_roles.h"

namespace kojak::earl {

// Adds a member; kNone (counted) if its communicator pairs nothing.
std::uint32_t NumberedCollectives::join(const OpenCall& call, std::uint64_t pos,
                                        const Number& number, const MpiFunction* function,
                                        std::uint32_t& rank) {
  if (delivered_ != kNone) unref(std::exchange(delivered_, kNone));
  const detail::GroupInfo* info = groups_.find(number.com);
  if (info == nullptr) {
    findings_.add(Finding::kUnknownComm, pos, call.loc);
    return kNone;
  }
  if (!info->def->identity_known) {
    findings_.add(Finding::kUnknownIdentity, pos, call.loc);
    return kNone;
  }
  rank = info->ranks.find(call.process);
  if (rank == kAbsent) {
    findings_.add(Finding::kNotAMember, pos, call.loc);
    return kNone;
  }
  std::uint32_t i = incomplete_.find(number);
  if (i == kNone) {
    i = operations_.take();
    incomplete_.insert(number, i);
    Operation& made = operations_[i];
    made.number = number;
    made.com = number.com;
    made.ordinal = number.ordinal;
    made.function = function;
    made.region = call.region;
    made.root = absent<PeerId>();
    made.complete = made.mixed = made.begun = false;
    made.intercommunicator = info->def->intercommunicator || !info->def->remote.empty();
    made.slot = i;
    made.size = info->present;
    made.members.clear();
    made.waits.clear();
    made.refs = 1;  // as long as it is incomplete
    made.older = newest_;
    made.newer = kNone;
    (newest_ == kNone ? oldest_ : operations_[newest_].newer) = i;
    newest_ = i;
  } else if (operations_[i].function != function) {
    if (!operations_[i].mixed) findings_.add(Finding::kMixedCollective, pos, call.loc);
    operations_[i].mixed = true;
  }
  ++members_;
  return i;
}

// After a member has come: whether it was the last one.
bool NumberedCollectives::settle(std::uint32_t i, std::uint64_t pos, LocationId loc) {
  Operation& operation = operations_[i];
  if (operation.members.size() < operation.size) {
    if (members_ > kMaxMembers) {
      findings_.add(Finding::kIncompleteCollective, pos, loc);
      give_up(oldest_);
    }
    return false;
  }
  operation.complete = true;
  close(i);
  release_waits(operation);
  delivered_ = i;  // unref() with the next one
  return true;
}

void NumberedCollectives::close(std::uint32_t i) {
  Operation& operation = operations_[i];
  incomplete_.erase(operation.number);
  (operation.older == kNone ? oldest_ : operations_[operation.older].newer) = operation.newer;
  (operation.newer == kNone ? newest_ : operations_[operation.newer].older) = operation.older;
  members_ -= operation.members.size();
}

void NumberedCollectives::release_waits(Operation& operation) {
  for (const std::uint32_t ref : operation.waits) {
    PendingWait& wait = waits_[ref - 1];
    if (--wait.open == 0 && wait.left) ready_.push_back(ref);
  }
  operation.waits.clear();
}

void NumberedCollectives::give_up(std::uint32_t i) {
  close(i);
  release_waits(operations_[i]);
  unref(i);
}

void NumberedCollectives::unref(std::uint32_t i) {
  if (--operations_[i].refs == 0) operations_.give_back(i);
}

NumberedCollectives::OpenRequest& NumberedCollectives::open(ProcessId process, RequestId id) {
  const std::uint32_t ri = requests_.take();
  detail::RequestTable& table = requests_of_[raw(process)];
  if (const std::uint32_t old = table.find(raw(id)); old != kNone) {
    table.erase(raw(id));  // a number given twice: the trace is damaged
    if (requests_[old].operation != kNone) unref(requests_[old].operation);
    requests_.give_back(old);
  }
  table.insert(raw(id), ri);
  OpenRequest& request = requests_[ri];
  request = {};
  request.id = id;
  return request;
}

CollectiveMember& NumberedCollectives::add(std::uint32_t i, const OpenCall& call,
                                           std::uint32_t rank, PeerId root) {
  Operation& operation = operations_[i];
  operation.begun = true;
  if (is_absent(operation.root)) operation.root = root;
  CollectiveMember& member = operation.members.emplace_back();
  static_cast<OpenCall&>(member.call) = call;
  member.call.exit = call.enter;
  member.rank = rank;
  return member;
}

const CollectiveInstance* NumberedCollectives::begin(const OpenCall& call, std::uint64_t pos,
                                                     const MpiCollBegin& r, PeerId root) {
  const MpiFunction* const function = blocking_form(raw(r.op));
  std::uint32_t rank = 0;
  const std::uint32_t i = join(call, pos, {r.cid, raw(r.key), raw(r.ordinal)}, function, rank);
  OpenRequest& request = open(call.process, r.reqid);
  request.operation = i;
  request.barrier = function != nullptr && function->role == MpiRole::kBarrier;
  if (i == kNone) return nullptr;
  request.member = static_cast<std::uint32_t>(operations_[i].members.size());
  ++operations_[i].refs;
  CollectiveMember& member = add(i, call, rank, root);
  member.sent = r.sent;
  member.recvd = r.recvd;
  return settle(i, pos, call.loc) ? &operations_[i] : nullptr;
}

const CollectiveInstance* NumberedCollectives::resume(const OpenCall& call, std::uint64_t pos,
                                                      const RequestState& r, PeerId root) {
  if (kind_of(call.process, r.reqid) != 0) return nullptr;  // begun in this trace
  const MpiFunction* const function = blocking_form(raw(r.op));
  const bool complete = (raw(r.flags) & kCompleteBefore) != 0;
  const auto request = [&]() -> OpenRequest& {
    OpenRequest& opened = open(call.process, r.reqid);
    opened.operation = kNone;
    opened.barrier = function != nullptr && function->role == MpiRole::kBarrier;
    return opened;
  };
  if ((raw(r.flags) & kBegunBefore) == 0) return request(), nullptr;
  std::uint32_t rank = 0;
  const std::uint32_t i = join(call, pos, {r.cid, 0, raw(r.ordinal)}, function, rank);
  if (i == kNone) return nullptr;
  if (!complete) {
    OpenRequest& opened = request();
    opened.operation = i;
    opened.member = static_cast<std::uint32_t>(operations_[i].members.size());
    ++operations_[i].refs;
  }
  CollectiveMember& member = add(i, call, rank, root);
  member.call.enter = member.call.exit = r.time;
  member.sent = r.bytes;
  return settle(i, pos, call.loc) ? &operations_[i] : nullptr;
}

std::uint8_t NumberedCollectives::kind_of(ProcessId process, RequestId id) const {
  const std::uint32_t ri = requests_of_[raw(process)].find(raw(id));
  if (ri == kNone) return 0;
  return requests_[ri].barrier ? kCompletedBarrier : kCompletedCollective;
}

std::uint8_t NumberedCollectives::complete(const Call& call, std::uint64_t pos, RequestId id,
                                           std::uint32_t& wait_ref) {
  detail::RequestTable& table = requests_of_[raw(call.process)];
  const std::uint32_t ri = table.find(raw(id));
  if (ri == kNone) {
    findings_.add(Finding::kUnknownRequest, pos, call.loc);
    return kCompletedCollective;
  }
  const OpenRequest request = requests_[ri];
  table.erase(raw(id));
  requests_.give_back(ri);
  if (request.operation != kNone) {
    if (wait_ref == 0) {
      wait_ref = waits_.take() + 1;
      waits_[wait_ref - 1].open = 0;
      waits_[wait_ref - 1].left = false;
    }
    PendingWait& wait = waits_[wait_ref - 1];
    wait.completed.push_back({request.operation, request.member});  // takes over the reference
    Operation& operation = operations_[request.operation];
    operation.members[request.member].awaited = waits_for_begun(call);
    if (incomplete_.find(operation.number) == request.operation) {
      ++wait.open;
      operation.waits.push_back(wait_ref);
    }
  }
  return request.barrier ? kCompletedBarrier : kCompletedCollective;
}

const CollectiveInstance* NumberedCollectives::leave_group_call(const Call& call,
                                                                const Number& number) {
  // Their sequences are numbered by themselves: not to be taken for those of begun operations, of
  // which some may be open on the same communicator.
  constexpr std::uint64_t kGroupCalls = std::uint64_t{1} << 63;
  std::uint32_t rank = 0;
  const std::uint32_t i =
      join(call, call.exit_pos, {number.com, number.key | kGroupCalls, number.ordinal},
           call.function, rank);
  if (i == kNone) return nullptr;
  operations_[i].members.push_back({call, rank, {}, {}, 0, false});
  return settle(i, call.exit_pos, call.loc) ? &operations_[i] : nullptr;
}

void NumberedCollectives::pause(ProcessId process) {
  // What they were stays known: numbers of requests are not used again.
  requests_of_[raw(process)].for_each([&](std::uint32_t ri) {
    if (requests_[ri].operation != kNone) unref(requests_[ri].operation);
    requests_[ri].operation = kNone;
  });
}

}  // namespace kojak::earl

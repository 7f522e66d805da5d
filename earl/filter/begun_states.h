// Which operations processes have begun together before a cut: non-blocking collectives, and the
// phases of UPC's barriers.
//
// Fed with every record of a trace, whether the cut keeps it or not, up to where the cut begins.
// write() then says of each process what it has begun (REQUEST_STATE): of an operation that some
// member has still to begin that this one has, so that those who wait for that member in the cut
// do; of one that all have begun that its request is open. Persistent operations, whose records
// have a key, are left out. Memory: operations that are open or not begun by all.
#pragma once

#include <map>

#include "epilog/format/definitions.h"
#include "epilog/format/field_values.h"
#include "epilog/format/record/records.h"

namespace kojak::filter {

class BegunStates {
 public:
  explicit BegunStates(const Definitions& definitions) : definitions_(definitions) {}

  void begin(ProcessId process, const MpiCollBegin& r) {
    const CommDef* const comm = definitions_.comms.find(r.cid);
    if (raw(r.key) != 0 || comm == nullptr || !comm->identity_known) return;
    const Number number{r.cid, raw(r.ordinal)};
    Operation& operation = operations_[number];
    operation.size = comm->ranks.size() + comm->remote.size();
    operation.members[process] = {r, true};
    requests_[{process, r.reqid}] = number;
  }
  // As a cut that this is a cut of has told it.
  void resume(ProcessId process, const RequestState& r) {
    const CommDef* const comm = definitions_.comms.find(r.cid);
    if (comm == nullptr || !comm->identity_known) return;
    const bool by_all = (raw(r.flags) & kBegunBefore) == 0;
    const Number number{r.cid, raw(r.ordinal)};
    Operation& operation = operations_[number];
    operation.size = by_all ? 0 : comm->ranks.size() + comm->remote.size();
    MpiCollBegin begun{};
    begun.reqid = r.reqid;
    begun.rlid = r.plid;
    begun.cid = r.cid;
    begun.ordinal = r.ordinal;
    begun.op = r.op;
    begun.sent = r.bytes;
    operation.members[process] = {begun, (raw(r.flags) & kCompleteBefore) == 0};
    requests_[{process, r.reqid}] = number;
  }
  // The request of one of them, or of something else, is complete or let go.
  void end(ProcessId process, RequestId request) {
    const auto at = requests_.find({process, request});
    if (at == requests_.end()) return;
    const auto operation = operations_.find(at->second);
    requests_.erase(at);
    operation->second.members[process].open = false;
    if (operation->second.over()) operations_.erase(operation);
  }
  // write(state) for what the process has begun, as of this location and time.
  template <class Write>
  void write(ProcessId process, LocationId lid, Seconds time, Write&& write) const {
    for (const auto& [number, operation] : operations_) {
      const auto at = operation.members.find(process);
      if (at == operation.members.end()) continue;
      const MpiCollBegin& begun = at->second.begun;
      const bool by_all = operation.begun_by_all();
      if (by_all && !at->second.open) continue;
      RequestState state{};
      state.lid = lid;
      state.time = time;
      state.kind = static_cast<Byte>(OpenRequest::kCollective);
      state.reqid = begun.reqid;
      state.cid = begun.cid;
      state.plid = begun.rlid;
      state.tag = absent<Tag>();
      state.bytes = begun.sent;
      state.ordinal = begun.ordinal;
      state.wid = absent<WindowId>();
      state.op = begun.op;
      state.flags = static_cast<Flags>((by_all ? 0u : kBegunBefore) |
                                       (at->second.open ? 0u : kCompleteBefore));
      write(state);
    }
  }

 private:
  struct Member {
    MpiCollBegin begun;
    bool open;
  };
  struct Operation {
    std::size_t size = 0;
    std::map<ProcessId, Member> members;
    bool begun_by_all() const { return members.size() >= size; }
    bool over() const {
      if (!begun_by_all()) return false;
      for (const auto& [process, member] : members) {
        if (member.open) return false;
      }
      return true;
    }
  };
  using Number = std::pair<CommId, std::uint64_t>;

  const Definitions& definitions_;
  std::map<Number, Operation> operations_;
  std::map<std::pair<ProcessId, RequestId>, Number> requests_;
};

}  // namespace kojak::filter

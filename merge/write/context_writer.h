// Writes the transfers of SHMEM: their starts, and the ends that stay where they are; hands the
// others to the placement, which keeps them until their context is quiet.
//
// Which is which: epilog/model/shmem_completion.h. Part of pass 2.
// Source: OpenSHMEM 1.5, 9.5, 9.6 and 9.12.
#pragma once

#include <algorithm>

#include "epilog/format/field_values.h"
#include "epilog/model/shmem_completion.h"
#include "merge/write/transfer_writer.h"

namespace kojak::merge {

template <bool Plain>
class ContextWriter {
 public:
  ContextWriter(const EngineInputs& in, EventWriter<Plain>& events, EndWriter<Plain>& ends)
      : events_(events),
        emitter_(events.emitter()),
        ends_(ends),
        placement_(ends.placement()),
        extended_(in.extended) {
    for (const RegionDef& region : in.survey.definitions.regions) {
      may_quiet_.push_back(model::may_quiet(region.shmem_role()));
    }
  }

  // A whole call: its first half, at its enter.
  void call_begins(Stream& s) {
    ShmemRmaCall call;
    if (!events_.read(s, call)) return;
    events_.enter_call(s, call);
    const double exit = s.corrected(call.exit.value);
    if (events_.good_peer(s, call.dlid)) {
      s.quiets_begun = placement_.quiets_begun(s.index);
      emitter_.put(ShmemPlace{call.lid, call.time, call.dlid, call.rmaid, call.offset, call.ctx,
                              call.flags});
      LocalEnd end;
      if (end_from_call(call, false, end)) {
        emitter_.put(MpiGet1to{call.lid, call.time, RmaId{end.rmaid}, absent<WindowId>()});
        const Bytes bytes = events_.sent_field(s, end.bytes);
        emitter_.put(
            Get1ts{LocationId{raw(call.dlid)}, call.time, PeerId{s.rank}, RmaId{end.rmaid}, bytes});
      }
      if (end_from_call(call, true, end)) {
        const Bytes bytes = events_.sent_field(s, end.bytes);
        emitter_.put(Put1ts{call.lid, call.time, call.dlid, RmaId{end.rmaid}, bytes});
      }
    }
    s.time = exit;
  }
  // The second half: ends that stay in the call, and its exit.
  void call_ends(Stream& s) {
    s.inside_call = false;
    ends_.release_at_exit(s);
    ShmemRmaCall call;
    if (decode(s.raw_record(), events_.dialect_of(s), call) == nullptr &&
        raw(call.dlid) < events_.processes()) {
      const Way way{context_window(raw(call.ctx)), (raw(call.flags) & kPlaceNonBlocking) != 0,
                    raw(call.kind) == (kCallPut | kCallGet), s.quiets_begun};
      for (const bool put : {false, true}) {
        LocalEnd end;
        if (end_from_call(call, put, end)) end_operation(s, put, way, end);
      }
    }
    events_.leave_call(s);
  }

  // Places, quiets and waits that have records of their own.
  void place(Stream& s) {
    ShmemPlace r;
    if (!events_.read(s, r)) return;
    if (!events_.good_peer(s, r.dlid)) return;
    s.placed.push_back({raw(r.rmaid), raw(r.ctx), (raw(r.flags) & kPlaceNonBlocking) != 0, false,
                        placement_.quiets_begun(s.index)});
    emitter_.put(r);
  }
  void get_starts(Stream& s) {
    Get1tsRemote r;
    if (!events_.read(s, r)) return;
    if (!events_.good_peer(s, r.dlid)) return;
    if (!s.placed.empty()) s.placed.back().got = true;
    emitter_.put(MpiGet1to{r.lid, r.time, r.rmaid, absent<WindowId>()});
    events_.copy_attributes(s);
    emitter_.put(Get1ts{LocationId{raw(r.dlid)}, r.time, PeerId{s.rank}, r.rmaid, r.sent});
  }
  void transfer_ends(Stream& s, bool put) {
    LocalEnd end;
    const std::uint64_t attribute = noted_bytes(s, kAttrBytesReceived);
    if (!windowless_end(s.raw_record(), events_.dialect_of(s), put, attribute, end)) {
      ++s.too_short;
      return;
    }
    if (!events_.good_peer(s, PeerId{end.peer})) return;
    end_operation(s, put, way_of(s, put, end.rmaid), end);
  }
  // Operations end in the call that issues them, as far as their own records tell.
  static void left(Stream& s) {
    s.placed.clear();
    while (!s.quiets.empty() && s.quiets.back().first > s.stack.size()) s.quiets.pop_back();
  }

  // A region was entered, and stands on the stack: what is issued from now on by other threads is
  // behind it, if it quiets.
  void entered(Stream& s, std::uint32_t region) {
    if (extended_ && placement_.several_threads(s.index) && region < may_quiet_.size() &&
        may_quiet_[region]) {
      s.quiets.emplace_back(s.stack.size(), placement_.begin_quiet(s.index));
    }
  }

  // A context is quiet, or all are.
  void quiet(Stream& s) {
    ContextUse use;
    if (!extended_ || !decode_context(s.raw_record(), events_.dialect_of(s), use) || !use.quiet) {
      return;
    }
    if (use.target != kAbsent && use.target >= events_.processes()) return;
    if (use.window != kAbsent) {
      contexts_.assign(1, use.window);
    } else {
      contexts_ = placement_.contexts(s.index);
    }
    const bool begun = !s.quiets.empty() && s.quiets.back().first == s.stack.size();
    const std::uint64_t up_to = begun ? s.quiets.back().second : placement_.begin_quiet(s.index);
    auto& due = ends_.none_due();
    for (const std::uint32_t id : contexts_) {
      placement_.released_by_quiet(s.index, id, up_to, use, due.lists);
    }
    ends_.release(s, false);
    for (const std::uint32_t id : contexts_) {
      placement_.window(s.index, id).quiet(false, up_to, use.target, use.puts, use.gets);
    }
  }

 private:
  struct Way {
    std::uint32_t context;
    bool non_blocking;
    bool with_result;  // a put whose call brings its target's old value back
    std::uint64_t quiets_begun;
  };

  Way way_of(const Stream& s, bool put, std::uint32_t rmaid) const {
    for (auto p = s.placed.rbegin(); p != s.placed.rend(); ++p) {
      const bool second = put && p->got && rmaid == p->rmaid + 1;
      if (p->rmaid == rmaid || second) {
        return {context_window(p->context), p->non_blocking, second, p->quiets_begun};
      }
    }
    return {context_window(0), false, false, placement_.quiets_begun(s.index)};
  }
  // The operation's own end has been read: it goes there, or to whoever completes it.
  void end_operation(Stream& s, bool put, const Way& way, const LocalEnd& end) {
    const HeldEnd held = TransferWriter<Plain>::held(s, put, s.time, end);
    Mark mark = Mark::kNone;
    if (extended_ && model::complete_when_quiet(put, way.non_blocking, way.with_result)) {
      mark =
          placement_.begin_in_context(s.index, put, end.peer, way.context, way.quiets_begun, held);
      if (mark == Mark::kNone) return;
    }
    ends_.put_basic_end(s, put, end.peer, way.context, held, mark);
  }

  EventWriter<Plain>& events_;
  Emitter<Plain>& emitter_;
  EndWriter<Plain>& ends_;
  Placement& placement_;
  bool extended_;
  std::vector<bool> may_quiet_;          // by merged region
  std::vector<std::uint32_t> contexts_;  // kept for its memory only
};

}  // namespace kojak::merge

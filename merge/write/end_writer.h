// Writes the ends of transfers: where their own records stand, or where they are released.
//
// Part of pass 2. Owns the placement (placement.h) and counts what became of the ends. Errors:
// those of the held ends.
#pragma once

#include "merge/complete/release.h"
#include "merge/write/event_writer.h"

namespace kojak::merge {

template <bool Plain>
class EndWriter {
 public:
  EndWriter(const EngineInputs& in, EventWriter<Plain>& events, Summary& summary,
            std::span<const std::uint32_t> ranks)
      : in_(in),
        summary_(summary),
        emitter_(events.emitter()),
        placement_(in.survey, in.files, ranks, in.pool) {}

  Placement& placement() { return placement_; }
  const Placement& placement() const { return placement_; }

  // Ends that wait for an exit record of this location.
  void release_at_exit(Stream& s) {
    if (placement_.any_at_exit(s.index)) [[unlikely]] {
      none_due();
      collect_at_exit(s, s.position() == s.facts->last_exit && s.facts->open_regions == 0);
      release(s, false);
    }
  }
  void collect_at_exit(Stream& s, bool last) {
    LocationEnds& waiting = placement_.location_ends(s.index);
    if (!placement_.any_at_exit(s.index)) return;
    due_.lists.insert(due_.lists.end(), waiting.next_exit.begin(), waiting.next_exit.end());
    waiting.next_exit.clear();
    if (last) {
      due_.lists.insert(due_.lists.end(), waiting.last_exit.begin(), waiting.last_exit.end());
      waiting.last_exit.clear();
    }
    placement_.set_any_at_exit(s.index, !waiting.last_exit.empty());
  }

  // The ends that are due, at the current time of this location.
  void release(Stream& s, bool closing, std::uint32_t window = kAbsent) {
    if (due_.lists.empty() && due_.mail.empty()) return;
    const double time = s.time;
    const ListInfo of_mail = Placement::mail_info(s.rank, window);
    const auto write = [&](const ListInfo& info, const HeldEnd& end) {
      emitter_.make_room();
      Mark mark = info.mark;
      if (closing && mark == Mark::kNone) {
        mark = Mark::kTargetExitLost;
        ++closed_by_free_;
      } else {
        count_mark(mark, info.window);
      }
      const std::uint32_t lid = info.put && !info.at_target ? info.target : s.lid;
      emitter_.put_end(info, end, lid, time, mark);
      ++moved_;
      if (info.place == EndPlace::kLastExit) ++open_ends_;
    };
    release_.run(placement_.held(), due_.lists, due_.mail, of_mail, write);
    emitter_.make_room();
  }
  void count_mark(Mark mark, std::uint32_t window) {
    if (mark == Mark::kNone) [[likely]]
      return;
    const bool unpaired = mark == Mark::kTargetExitLost && window != kAbsent &&
                          !in_.survey.definitions.windows[window].paired();
    ++(unpaired ? unpaired_ : marked(mark));
  }
  ListInfo basic_info(const Stream& s, bool put, std::uint32_t target, std::uint32_t window) const {
    ListInfo info;
    info.stream = s.index;
    info.origin = s.rank;
    info.target = target;
    info.window = window;
    info.put = put;
    return info;
  }
  // An end where its own record stands.
  void put_basic_end(Stream& s, bool put, std::uint32_t target, std::uint32_t window,
                     const HeldEnd& end, Mark mark) {
    count_mark(mark, window);
    emitter_.put_end(basic_info(s, put, target, window), end, put ? target : s.lid, s.time, mark);
  }

  // All that is still held, at the very end: contradictory records may leave something.
  void release_rest(double time, const std::vector<Stream>& streams) {
    const auto write = [&](const ListInfo& info, const HeldEnd& end) {
      emitter_.make_room();
      count_mark(Mark::kBothExitsLost, info.window);
      ++open_ends_;
      const std::uint32_t lid = info.put ? info.target : streams[info.stream].lid;
      emitter_.put_end(info, end, lid, time, Mark::kBothExitsLost);
    };
    none_due();
    placement_.rest_of_mail(due_.mail, [&](const ListInfo& info) {
      release_.run(placement_.held(), due_.lists, due_.mail, info, write);
    });
    due_.lists = placement_.held().open_lists();
    release_.run(placement_.held(), due_.lists, write);
  }
  // Of a slice, in which nothing should be left.
  void count_rest() {
    none_due();
    placement_.rest_of_mail(due_.mail,
                            [&](const ListInfo&) { open_ends_ += due_.mail.ends.size(); });
    for (const ListId list : placement_.held().open_lists()) {
      open_ends_ += placement_.held().empty(list) ? 0 : 1;
    }
  }
  void report_ends() {
    summary_.moved = moved_;
    summary_.open_ends = open_ends_;
    summary_.reread = placement_.held().reread();
    summary_.add(Finding::kTargetExitLost, marked(Mark::kTargetExitLost));
    summary_.add(Finding::kBothExitsLost, marked(Mark::kBothExitsLost));
    summary_.add(Finding::kLateStart, marked(Mark::kLateStart));
    summary_.add(Finding::kNoEpoch, marked(Mark::kNoEpoch));
    summary_.add(Finding::kUnpairedWindow, unpaired_);
    summary_.add(Finding::kClosedByFree, closed_by_free_);
  }

  // Ends of operations that a record completes come into it, to be released with release().
  struct Due {
    std::vector<ListId> lists;
    Mail mail;
  };
  // Nothing is due.
  Due& none_due() {
    due_.lists.clear();
    due_.mail.clear();
    return due_;
  }
  // An end that leaves the held ones by itself.
  void put_completed(const Stream& s, const Placement::Completed& done) {
    emitter_.put_end(done.info, done.end, s.lid, s.time, Mark::kNone);
    ++moved_;
  }

 private:
  std::uint64_t& marked(Mark mark) { return marks_[static_cast<std::size_t>(mark)]; }
  const EngineInputs& in_;
  Summary& summary_;
  Emitter<Plain>& emitter_;
  Placement placement_;
  Due due_;
  std::uint64_t moved_ = 0;
  Release release_;
  std::uint64_t closed_by_free_ = 0, unpaired_ = 0, open_ends_ = 0;
  std::uint64_t marks_[static_cast<std::size_t>(Mark::kNoEpoch) + 1] = {};
};

}  // namespace kojak::merge

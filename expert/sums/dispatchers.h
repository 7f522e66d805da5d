// Who serves does not wait: processes and threads that answer whoever asks.
//
// A dispatcher is a call path of one location: MPI_Iprobe, MPI_Improbe, a Test*, Wait* or MPI_Recv
// that finds messages from any source, kFinds of them or more, of kSources processes or more, to
// which it sent after at least half of its finds before the next one; from the first find to the
// last at least half of the process's life; and at most half of the locations ever call there,
// since peers who exchange that way serve nobody. Or a thread that polls at one call path for nine
// tenths of its life, at which the first thread of its process never polls.
//
// Nor does a library that was called to fetch something serve anybody, though it answers whoever
// asks while it polls for its own answer (one-sided libraries on messages). What is found below a
// library's call (expert/waits/library_calls.h) from a process that was sent to below it, before
// anything of that one was found there, is an *answer*: a call path with one is no dispatcher.
//
// All of that is known at the end of the trace, and told then. Of MPI_Probe the trace does not tell
// whether it took any source, nor does an old trace of MPI_Recv: those are none. Memory: call paths
// and locations where messages from any source are found. Nothing fails.
#pragma once

#include <compare>
#include <span>
#include <vector>

#include "earl/aspects/messages.h"
#include "earl/aspects/polls.h"
#include "earl/call.h"
#include "expert/sums/setting.h"
#include "expert/waits/library_calls.h"

namespace kojak::expert {

class Dispatchers {
 public:
  static constexpr std::uint64_t kFinds = 10;
  static constexpr std::size_t kSources = 2;
  static constexpr double kOfThread = 0.9;

  explicit Dispatchers(const Setting& setting);

  void use(const LibraryCalls* library) {
    library_ = library->any() ? library : nullptr;
    if (library_ != nullptr) below_.resize(sites_.size());
  }
  void on_begin(Seconds first) { begin_ = first; }
  void on_end(Seconds last) { end_ = last; }
  KOJAK_INLINED void on_call(const earl::Call& call) {
    if (call.joined) [[unlikely]]
      polled(call);
    if (threads_ && !first_[call.index]) [[unlikely]]
      lived(call);
    const MpiRole role = call.role();
    if (role == MpiRole::kInit || role == MpiRole::kFinalize) [[unlikely]]
      bound_life(call);
    if (library_ != nullptr) [[unlikely]]
      step(call);
  }
  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series);
  void on_found(const earl::OpenCall& call, const earl::FoundMessage& message) {
    found(call, message.source, message.time, false);
  }
  void on_receive(const earl::RecvEvent& receive) {
    if (receive.from_any) [[unlikely]]
      found(*receive.call, receive.source, receive.time, true);
  }
  KOJAK_INLINED void on_send(const earl::SendEvent& send) {
    if (library_ != nullptr) [[unlikely]]
      ask(*send.call, send.destination);
    if (!serving_.empty()) [[unlikely]]
      answer(send.call->process, send.destination);
  }

  struct Place {
    CallPathIndex path = 0;
    LocationIndex location = 0;
    auto operator<=>(const Place&) const = default;
  };
  // What another one was told of, behind this one; its call path p is paths[p] here. Then only
  // none() can be asked: whether nobody can be one, whatever was answered in one part of what was
  // found in another.
  void add(const Dispatchers& other, std::span<const CallPathIndex> paths);
  bool none() const;
  template <class Archive>
  void visit(Archive& archive) {
    archive(sites_);
  }
  // Once, in order. `visits`: how many calls of each path each location made.
  std::vector<Place> finish(const SeverityStore& severities, MetricIndex visits) const;

 private:
  struct Site {
    CallPathIndex path = 0;
    bool any = false;  // asked for messages from any source
    std::uint64_t finds = 0, answered = 0;
    // Of the finds: what was asked for; and that whatever came before the trace's first event.
    std::uint64_t answers = 0, sure_answers = 0;
    Seconds first, last;                // finds
    std::vector<ProcessId> sources;     // the first kSources of them
    std::uint64_t call = 0;             // of the latest finds: its enter_pos
    std::vector<ProcessId> unanswered;  // of that call
    Seconds polled;                     // length of its series

    template <class Archive>
    void visit(Archive& archive) {
      archive(path, any, finds, answered, answers, sure_answers, sources, unanswered, polled);
    }
  };
  struct Life {
    Seconds begin, end;
    bool begun = false, ended = false;
  };
  // The call of a library that a location is in, and whom it sent to below it, or found something
  // of: which came first.
  struct Below {
    CallBounds bounds;
    CallPathIndex around = kNoCallPath;
    std::uint64_t call = ~std::uint64_t{0};  // enter_pos of the latest
    bool begun = false, sure = false;        // where it began is known
    std::vector<ProcessId> asked, asks;
  };

  Site& site(const earl::OpenCall& call) { return site(call.index, raw(call.cnode)); }
  Site& site(LocationIndex location, CallPathIndex path);
  void found(const earl::OpenCall& call, ProcessId source, Seconds time, bool any);
  void answer(ProcessId process, ProcessId destination);
  Below& step(const earl::OpenCall& call);
  void ask(const earl::OpenCall& call, ProcessId destination);
  void note_answer(const earl::OpenCall& call, ProcessId source, Site& site);
  void polled(const earl::Call& call);
  void lived(const earl::Call& call);
  void bound_life(const earl::Call& call);
  bool serves(const Site& site, const Life& life) const;

  const earl::Trace& trace_;
  const LibraryCalls* library_ = nullptr;  // null: there are none
  std::vector<Below> below_;               // by location, if there are
  std::vector<std::vector<Site>> sites_;   // by location
  std::vector<Life> lives_;                // by process
  std::vector<Life> thread_lives_;         // by location, of those that are no first thread
  std::vector<bool> first_;                // by location: the first thread of its process
  std::vector<LocationIndex> serving_;     // locations that have found something
  bool threads_ = false;
  Seconds begin_, end_;
};

}  // namespace kojak::expert

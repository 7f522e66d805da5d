#include "earl/filter/severed.h"

#include <algorithm>
#include <unordered_map>

#include "earl/filter/epoch_groups.h"
#include "earl/replay.h"

namespace kojak::filter {
namespace {

using earl::Call;

class Finder : public earl::Sink {
 public:
  Finder(const earl::Trace& trace, Selection& selection,
         const std::function<void(std::uint64_t)>& progress)
      : trace_(trace), selection_(selection), progress_(progress) {}

  void on_enter(const earl::OpenCall& call) { selection_.enter(call); }
  void on_call(const Call& call, std::span<const std::uint64_t>) {
    selection_.leave(call);
    if (!answered_.empty()) [[unlikely]]
      answered(call);
    severed.seen(call.exit);
    if (progress_ && (++calls_ & 0xFFFF) == 0) progress_(call.exit_pos);
  }

  void on_polled(const earl::OpenCall& call, const earl::PolledSeries& series) {
    const Seconds to{selection_.cut().to};
    if (call.enter <= to && to < series.polled.time) severed.add_series(call.enter_pos, series);
  }

  // ---- messages: both events stay, or none
  void on_send(const earl::SendEvent& e) { unpaired_.insert({e.pos, place(*e.call, e.time)}); }
  void on_receive(const earl::RecvEvent& e) {
    Place at = place(*e.call, e.time);
    at.request = e.request;
    unpaired_.insert({e.pos, at});
  }
  void on_message_call(const earl::MessageCall& call) {
    for (const earl::Message* message : call.received) pair(*message);
    for (const earl::Message* message : call.sent) {
      if (message->recv_pos == earl::kNoEvent) pair_with_posting(*message);
    }
  }

  // ---- collectives
  void on_collective(const earl::CollectiveInstance& instance) {
    if (!instance.complete || !whole(trace_.definitions().comms.find(instance.com))) return;
    members(instance.members);
  }
  void on_window_collective(const earl::WindowInstance& instance) {
    const WindowDef* window = trace_.definitions().windows.find(instance.window);
    if (!instance.complete || window == nullptr) return;
    if (whole(trace_.definitions().comms.find(window->comm))) members(instance.members);
  }

  // ---- epochs
  void on_access_transaction(const earl::AccessEpoch& epoch) {
    const std::uint64_t id = name(epoch);
    for (const earl::AccessTarget& target : epoch.targets) {
      if (target.exposure != nullptr) groups_.unite(id, name(*target.exposure));
    }
    EpochGroups::Group& group = groups_.group(id);
    if (epoch.has_start) add(group, epoch.start);
    if (epoch.has_finish) add(group, epoch.finish);
    groups_.seen(id, [&](const EpochGroups::Group& whole) { closed(whole); });
  }
  void on_exposure_transaction(const earl::ExposureEpoch& epoch) {
    const std::uint64_t id = name(epoch);
    for (const earl::ExposureOrigin& origin : epoch.origins) {
      if (origin.access != nullptr) groups_.unite(id, name(*origin.access));
    }
    EpochGroups::Group& group = groups_.group(id);
    if (epoch.has_post) add(group, epoch.post);
    if (epoch.has_finish) add(group, epoch.finish);
    groups_.seen(id, [&](const EpochGroups::Group& whole) { closed(whole); });
  }
  // A lock whose unlock is not selected leaves no event. The other way round, the state at the
  // beginning of what is selected says that it is held.
  void on_passive_epoch(const earl::PassiveEpoch& epoch) {
    if (!epoch.has_lock || !epoch.has_unlock || selection_.exit_of(epoch.unlock)) return;
    if (selection_.between(epoch.lock, epoch.unlock)) severed.add(epoch.lock.enter_pos);
  }

  // ---- SHMEM
  // A call that must have an answer before it returns: without its exit nobody knows when that
  // came.
  void on_transfer(const earl::Transfer& transfer) {
    if (!is_absent(transfer.window)) return;
    const bool later = transfer.place != nullptr && transfer.place->non_blocking();
    if (transfer.get && !later) answered_.try_emplace(transfer.call->enter_pos);
  }
  void answered(const Call& call) {
    const auto it = answered_.find(call.enter_pos);
    if (it == answered_.end()) return;
    const bool begins = selection_.event(call.index, call.process, call.enter, call.enter_pos);
    if (begins && !selection_.exit_of(call)) {
      severed.add(call.enter_pos);
      for (const std::uint64_t waiting : it->second) severed.add(waiting);
    }
    answered_.erase(it);
  }
  // Whoever wrote last to the variable ended the waiting. Written before the cut begins, it was
  // there before all that counts.
  void on_symmetric_wait(const earl::SymmetricWait& wait) {
    if (!selection_.exit_of(*wait.call)) return;
    for (const earl::AwaitedVariable& variable : wait.variables) {
      if (variable.write == nullptr) continue;
      const earl::OpenCall& by = variable.write->call;
      if (const auto it = answered_.find(by.enter_pos); it != answered_.end()) {
        it->second.push_back(wait.call->enter_pos);
      }
      const bool before =
          by.enter.value < selection_.cut().from && selection_.process(raw(by.process));
      if (!before && !selection_.event(by.index, by.process, by.enter, variable.write->pos)) {
        severed.add(wait.call->enter_pos);
      }
    }
  }

  void on_end() {
    groups_.finish([&](const EpochGroups::Group& group) { closed(group); });
    for (const auto& [pos, at] : unpaired_) {
      if (selection_.event(at.index, at.process, at.time, pos)) severed.add(pos);
      severed.add_request(at.process, at.request);
    }
    severed.finish();
  }

  Severed severed;

 private:
  struct Place {
    std::uint32_t index;
    ProcessId process;
    Seconds time;
    RequestId request = absent<RequestId>();  // of a receive
  };
  static Place place(const earl::OpenCall& call, Seconds time) {
    return {call.index, call.process, time};
  }
  bool selected(const Place& at, std::uint64_t pos) const {
    return selection_.event(at.index, at.process, at.time, pos);
  }
  bool whole(const CommDef* comm) const { return selection_.whole(comm); }

  void pair(const earl::Message& message) {
    const auto sent = unpaired_.find(message.send_pos);
    const auto received = unpaired_.find(message.recv_pos);
    if (sent == unpaired_.end() || received == unpaired_.end()) return;  // seen before
    const bool keeps_send = selected(sent->second, message.send_pos);
    const bool keeps_receive = selected(received->second, message.recv_pos);
    if (keeps_send != keeps_receive) severed.add(keeps_send ? message.send_pos : message.recv_pos);
    const earl::OpenCall& post = message.post_call;
    const bool keeps_post = message.posting_known &&
                            selection_.event(post.index, post.process, post.enter, post.enter_pos);
    if (!(keeps_send && keeps_receive)) {
      if (keeps_post) severed.add_request(message.destination, message.recv_request);
    } else if (!keeps_post) {
      severed.carry_request(message.destination, message.recv_request);
    }
    unpaired_.erase(sent);
    unpaired_.erase(received);
  }
  // The receive was let go before its message came: its posting stands for it.
  void pair_with_posting(const earl::Message& message) {
    const auto sent = unpaired_.find(message.send_pos);
    if (sent == unpaired_.end()) return;
    const bool keeps_send = selected(sent->second, message.send_pos);
    const earl::OpenCall& post = message.post_call;
    const bool keeps_post = selection_.event(post.index, post.process, post.enter, post.enter_pos);
    if (keeps_send && !keeps_post) severed.add(message.send_pos);
    if (keeps_post && !keeps_send) {
      severed.add_request(message.destination, message.recv_request);
    }
    unpaired_.erase(sent);
  }

  template <class Members>
  void members(const Members& all) {
    std::size_t count = 0;
    for (const auto& member : all) count += selection_.exit_of(member.call) ? 1 : 0;
    if (count == 0 || count == all.size()) return;
    for (const auto& member : all) {
      if (selection_.exit_of(member.call)) severed.add(member.call.enter_pos);
    }
  }

  // Whatever is known of an epoch is known when its transaction or a partner's is delivered.
  static std::uint64_t name(const earl::AccessEpoch& epoch) {
    return 2 * (epoch.has_finish ? epoch.finish.enter_pos : epoch.start.enter_pos);
  }
  static std::uint64_t name(const earl::ExposureEpoch& epoch) {
    return 2 * (epoch.has_finish ? epoch.finish.enter_pos : epoch.post.enter_pos) + 1;
  }
  void add(EpochGroups::Group& group, const Call& call) {
    const bool is = selection_.exit_of(call);
    group.selected |= is;
    group.unselected |= !is;
    if (selection_.process(raw(call.process))) group.calls.push_back(call.enter_pos);
  }
  void closed(const EpochGroups::Group& group) {
    if (!group.selected || !group.unselected) return;
    for (const std::uint64_t pos : group.calls) severed.add(pos);
  }

  const earl::Trace& trace_;
  Selection& selection_;
  const std::function<void(std::uint64_t)>& progress_;
  std::uint64_t calls_ = 0;
  std::unordered_map<std::uint64_t, Place> unpaired_;  // SENDs and RECVs by position
  EpochGroups groups_;
  // Open gets and atomic operations with a result, by ENTER: the calls that waited for what they
  // wrote.
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> answered_;
};

void sort(std::vector<std::uint64_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace

void Severed::finish() {
  sort(positions_);
  sort(requests_);
  sort(carried_);
}

bool Severed::contains(std::uint64_t pos) const {
  return std::binary_search(positions_.begin(), positions_.end(), pos);
}

bool Severed::carries_request(ProcessId process, RequestId request) const {
  return std::binary_search(carried_.begin(), carried_.end(), key(process, request));
}

bool Severed::has_request(ProcessId process, RequestId request) const {
  return std::binary_search(requests_.begin(), requests_.end(), key(process, request));
}

Severed find_severed(earl::Trace& trace, Selection& selection,
                     const std::function<void(std::uint64_t)>& progress) {
  Finder finder(trace, selection, progress);
  earl::Replay replay(trace, finder);
  replay.run();
  return std::move(finder.severed);
}

}  // namespace kojak::filter

// Findings by send mode: which messages waited, by the kind of send that was used, with what a
// person can change at that place of the program.
//
// An instance is listed if its waiting is above 0 and not below epsilon; instances of one kind at
// one call path make one finding. A message's cost is fitted, for pairs on one node and on two, on
// sends that found their receive posted. Memory: call paths x locations, messages in flight,
// requests open. Source: docs/patterns.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "earl/aspects/messages.h"
#include "earl/trace.h"
#include "expert/metrics/amount.h"
#include "expert/metrics/metric.h"

namespace kojak::expert {

enum class SendModeKind : std::uint8_t {
  kEarlyStandard,  // the sender waits for a receive
  kEarlyBuffered,
  kEarlySynchronous,
  kEarlyReady,
  kLateStandard,  // the receiver waits for a send
  kLateBuffered,
  kLateSynchronous,
  kLateReady,
  kMisarranged,   // messages of one pair are received in the opposite order of sending
  kSenderWait,    // the Wait of a non-blocking send
  kReceiverWait,  // the Wait of a non-blocking receive
  kCloseSendReceive,
};
inline constexpr std::size_t kSendModeKinds =
    static_cast<std::size_t>(SendModeKind::kCloseSendReceive) + 1;
std::string_view name_of(SendModeKind kind);   // "late_standard_send"
std::string_view title_of(SendModeKind kind);  // "Late standard send"
std::string_view advice_of(SendModeKind kind);

// What moving a message takes: latency + bytes x per_byte.
class SendCost {
 public:
  struct Fit {
    double latency = 0, per_byte = 0;
    std::uint64_t messages = 0;  // that it was fitted on
  };
  void add(bool same_node, std::uint64_t bytes, double seconds);
  Fit fit(bool same_node) const;
  void add(const SendCost& other) {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const Sums& theirs = other.sums_[i];
      sums_[i] = {sums_[i].n + theirs.n, sums_[i].x + theirs.x, sums_[i].y + theirs.y,
                  sums_[i].xx + theirs.xx, sums_[i].xy + theirs.xy};
    }
  }
  template <class Archive>
  void visit(Archive& archive) {
    archive(sums_);
  }
  void set_latency(double seconds) { latency_ = seconds; }
  void set_bandwidth(double bytes_per_second) { per_byte_ = 1 / bytes_per_second; }

 private:
  struct Sums {
    std::uint64_t n = 0;
    Amount x = 0, y = 0, xx = 0, xy = 0;  // bytes, ticks, and their products
  };
  std::array<Sums, 2> sums_{};  // other node, same node
  std::optional<double> latency_, per_byte_;
};

struct SendModeInstance {
  LocationIndex location = 0;
  Seconds enter, exit, waiting;
  // Of a Wait: how long before it the operation should have been issued to hide it, 0 if unknown.
  double distance = 0;
};
struct SendModeFinding {
  SendModeKind kind{};
  CallPathIndex call_path = 0;
  std::uint64_t count = 0;
  double total = 0;
  SendModeInstance worst;
  std::vector<LocationIndex> locations;  // ascending
};

struct SendModeOptions {
  double epsilon = 0;
  double sendrecv_gap = 10e-6;
  std::optional<double> latency, bandwidth;  // instead of fitting
};

class SendModes {
 public:
  SendModes(const earl::Trace& trace, const SendModeOptions& options);

  void on_send(const earl::SendEvent& send);
  void on_receive(const earl::RecvEvent& receive);
  void on_call(const earl::Call& call);
  void on_message_call(const earl::MessageCall& m);

  // One that was told of nothing yet.
  SendModes fresh() const { return {*trace_, options_}; }
  // What another one was told of, behind this one; its call path p is paths[p] here. False: a send
  // and a receive of which it has one and this one the other may be a pair.
  bool add(const SendModes& other, std::span<const CallPathIndex> paths);
  template <class Archive>
  void visit(Archive& archive) {
    archive(cost_, sums_);
    for (Place& place : places_) archive(place.send, place.receive, place.first, place.any);
  }

  // The longest total first.
  std::vector<SendModeFinding> findings() const;
  const SendCost& cost() const { return cost_; }

 private:
  struct Partner {  // of the latest blocking send, or receive, of a location
    std::uint64_t call = earl::kNoEvent;
    ProcessId peer{};
    bool done = false;
    Seconds exit;
  };
  struct Place {
    Partner send, receive;
    Seconds first;  // enter of the first of all
    bool any = false;
  };
  struct Sum {
    std::uint64_t count = 0;
    TimeSum total;
    SendModeInstance worst;
    double bytes = 0;  // of the worst one's message
    bool same_node = false;
    std::set<LocationIndex> locations;
    template <class Archive>
    void visit(Archive& archive) {
      archive(count, total, worst, bytes, same_node, locations);
    }
  };
  struct Side {  // for the distance of a Wait
    double before = 0;
    double bytes = 0;
    bool same_node = false;
  };
  void add(SendModeKind kind, const earl::Call& call, Seconds waiting, const Side* side = nullptr);
  void late_sends(const earl::MessageCall& m);
  void early_sends(const earl::MessageCall& m);
  void waits(const earl::MessageCall& m);
  double take_duration(const earl::OpenCall& issue);
  bool same_node(const earl::OpenCall& a, const earl::OpenCall& b) const;
  void landed(const earl::Message& message);
  bool misarranged(const earl::Message& message) const;

  const earl::Trace* trace_;
  SendModeOptions options_;
  SendCost cost_;
  std::vector<Place> places_;  // by location
  std::map<std::pair<SendModeKind, CallPathIndex>, Sum> sums_;
  std::map<std::pair<ProcessId, ProcessId>, std::set<std::uint64_t>>
      in_flight_;                                        // by Send and Bsend
  std::unordered_map<std::uint64_t, double> durations_;  // of calls that issued requests
};

}  // namespace kojak::expert

// A sink that copies all that a forward pass delivers, and the pass over a text trace.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "earl/replay.h"
#include "epilog/format/text/text_reader.h"

namespace kojak::earl {

struct MessageCallCopy {
  Call call;
  std::vector<Message> received, sent;
};
struct AccessCopy : AccessEpoch {
  std::vector<std::optional<ExposureEpoch>> exposures;  // by target
};
struct ExposureCopy : ExposureEpoch {
  std::vector<std::optional<AccessEpoch>> accesses;  // by origin
  std::vector<TargetTransfers> transfers;
};
struct EpochCallCopy {
  Call call;
  ProcessId origin{};
  std::vector<double> posts;  // enters of those known
};
struct FenceCopy {
  Call call;
  std::uint64_t ordinal = 0;
  std::uint32_t size = 0;
  bool gap = false;
  std::vector<FenceTarget> targets;
};
struct TransferCopy {
  CallPathId cnode{};
  ProcessId origin{}, target{};
  RmaId rmaid{};
  std::uint64_t bytes = 0;
  bool get = false;
  EpochKind epoch{};
};

struct Recorder : Sink {
  std::vector<Call> calls;
  std::vector<std::vector<std::uint64_t>> metrics;
  std::vector<MessageCallCopy> messages;
  std::vector<CollectiveInstance> collectives;
  std::vector<WindowInstance> windows;
  std::vector<AccessEpoch> closed_accesses;
  std::vector<AccessCopy> accesses;
  std::vector<ExposureCopy> exposures;
  std::vector<EpochCallCopy> epoch_calls;
  std::vector<FenceCopy> fences;
  std::vector<PassiveEpoch> passive;
  std::vector<TransferCopy> transfers;
  std::vector<std::uint64_t> sent_bytes, received_bytes;
  std::vector<RmaId> marked;
  std::vector<std::string> order;  // of what was delivered
  bool ended = false;

  void on_call(const Call& c, std::span<const std::uint64_t> m) {
    calls.push_back(c);
    metrics.emplace_back(m.begin(), m.end());
    order.push_back("call");
  }
  void on_send(const SendEvent& e) { sent_bytes.push_back(raw(e.bytes)); }
  void on_receive(const RecvEvent& e) { received_bytes.push_back(raw(e.bytes)); }
  void on_transfer(const Transfer& t) {
    transfers.push_back({t.call->cnode, t.origin, t.target, t.rmaid, raw(t.bytes), t.get, t.epoch});
  }
  void on_message_call(const MessageCall& m) {
    MessageCallCopy copy{*m.call, {}, {}};
    for (const Message* one : m.received) copy.received.push_back(*one);
    for (const Message* one : m.sent) copy.sent.push_back(*one);
    messages.push_back(copy);
    order.push_back("messages");
  }
  void on_collective(const CollectiveInstance& c) { collectives.push_back(c); }
  void on_window_collective(const WindowInstance& w) { windows.push_back(w); }
  void on_fence_epoch(const FenceEpoch& f) {
    fences.push_back({*f.call, f.ordinal, f.size, f.gap, {f.targets.begin(), f.targets.end()}});
  }
  void on_access_epoch(const AccessEpoch& a) {
    closed_accesses.push_back(a);
    order.push_back("access epoch");
  }
  void on_epoch_call(const Call& c, const AccessEpoch& a) {
    EpochCallCopy copy{c, a.origin, {}};
    for (const AccessTarget& t : a.targets) {
      if (t.exposure != nullptr) copy.posts.push_back(t.exposure->post.enter.value);
    }
    epoch_calls.push_back(copy);
    order.push_back("epoch call");
  }
  void on_marked_transfer(ProcessId, RmaId id, ProcessId, const AccessEpoch*) {
    marked.push_back(id);
  }
  void on_access_transaction(const AccessEpoch& a) {
    AccessCopy copy;
    static_cast<AccessEpoch&>(copy) = a;
    for (const AccessTarget& t : a.targets) {
      copy.exposures.push_back(t.exposure != nullptr ? std::optional(*t.exposure) : std::nullopt);
    }
    accesses.push_back(copy);
    order.push_back("access");
  }
  void on_exposure_transaction(const ExposureEpoch& e) {
    ExposureCopy copy;
    static_cast<ExposureEpoch&>(copy) = e;
    for (const ExposureOrigin& o : e.origins) {
      copy.accesses.push_back(o.access != nullptr ? std::optional(*o.access) : std::nullopt);
      copy.transfers.push_back(o.access != nullptr ? o.transfers() : TargetTransfers{});
    }
    exposures.push_back(copy);
    order.push_back("exposure");
  }
  void on_passive_epoch(const PassiveEpoch& e) { passive.push_back(e); }
  void on_end() { ended = true; }

  std::vector<Call> calls_of(std::string_view name, const Trace& trace) const {
    std::vector<Call> result;
    for (const Call& c : calls) {
      const RegionDef* region = trace.definitions().regions.find(c.region);
      if (region != nullptr && region->name == name) result.push_back(c);
    }
    return result;
  }
};

// A text trace and what the pass over it delivered.
struct Pass {
  std::vector<std::byte> bytes;
  std::unique_ptr<Trace> trace;
  Recorder out;
  CallTree tree;

  explicit Pass(std::string_view text) {
    auto made = text_to_trace(text);
    if (!made) {
      ADD_FAILURE() << made.error().message();
      return;
    }
    bytes = std::move(*made);
    pass();
  }
  explicit Pass(std::vector<std::byte> trace_bytes) : bytes(std::move(trace_bytes)) { pass(); }

  std::uint64_t count(Finding finding) const { return trace->findings()[finding].count; }
  // No finding at all but the given ones.
  void expect_only(std::initializer_list<Finding> allowed) const {
    trace->findings().for_each([&](Finding finding, const Findings::Row& row) {
      if (std::find(allowed.begin(), allowed.end(), finding) == allowed.end()) {
        ADD_FAILURE() << info(finding).name << ": " << row.count << ", first at event "
                      << row.first_pos;
      }
    });
  }
  // "main/MPI_Send" of a call path.
  std::string path(CallPathId id) const {
    std::string name;
    while (!is_absent(id)) {
      const RegionDef* region = trace->definitions().regions.find(tree[id].region);
      name = (region != nullptr ? region->name : "?") + (name.empty() ? "" : "/" + name);
      id = tree[id].parent;
    }
    return name;
  }

 private:
  void pass();
};

// The pass over a trace that is open.
CallTree replay(Trace& trace, Recorder& out);

inline ProcessId rank(std::uint32_t r) {
  return static_cast<ProcessId>(r);
}

}  // namespace kojak::earl

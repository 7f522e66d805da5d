// State aspects of transfers: the transfer queue (starts without an end yet) and the origin queue
// (GET_1TO whose GET_1TS has not come; with lock grants also PUT_1TO whose PUT_1TS has not), both
// per location. Each can be used alone.
//
// Feed them every event in file order. A transfer is known by its origin process and its number
// there; those with and without a window are apart. Memory: open transfers.
// Source: docs/earl.md.
#pragma once

#include <array>
#include <vector>

#include "earl/detail/transfer_table.h"
#include "earl/index/interval_column.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

// Transfer events that wait for another one of the same transfer.
class OpenTransfers {
 public:
  explicit OpenTransfers(const Trace& trace)
      : trace_(&trace), open_{Table(trace.process_count()), Table(trace.process_count())} {}
  // Numbers of the waiting events of a location, in file order.
  std::vector<std::uint64_t> of(LocationId location) const;
  std::size_t size() const { return open_[0].size() + open_[1].size(); }
  // From the event that waits to the one that it has waited for. What is there after an event can
  // be applied as it was.
  void record(IntervalColumn* log) { log_ = log; }
  void end_record(std::uint64_t end);

 protected:
  // The process that issued the transfer of an event whose origin is elsewhere, or here.
  ProcessId origin_here(const Event& e) const { return process(e.loc); }
  ProcessId origin_there(const Event& e) const {
    return process(static_cast<LocationId>(raw(e.peer)));
  }
  KOJAK_INLINED void put(ProcessId origin, const Event& e) {
    Item& item = open_[table(e)].get(origin, e.rmaid);
    if (log_ != nullptr && !item.empty()) log_->add(item.pos, e.pos);
    item.pos = e.pos;  // of a damaged trace's equal numbers the later one counts
    item.loc = e.loc;
  }
  // Takes it out; kNoEvent if there is none.
  KOJAK_INLINED std::uint64_t take(ProcessId origin, const Event& e) {
    const std::uint64_t pos = open_[table(e)].take(origin, e.rmaid).pos;
    if (log_ != nullptr && pos != kNoEvent) log_->add(pos, e.pos);
    return pos;
  }

 private:
  struct Item {
    std::uint32_t id = 0;
    LocationId loc{};
    std::uint64_t pos = kNoEvent;
    bool empty() const { return pos == kNoEvent; }
  };
  using Table = detail::TransferTable<Item>;
  ProcessId process(LocationId location) const {
    const std::uint32_t i = trace_->index(location);
    return i != kAbsent ? trace_->process(i) : static_cast<ProcessId>(raw(location));
  }
  static std::size_t table(const Event& e) {
    const bool window = e.type != EventType::kPut1ts && e.type != EventType::kPut1te &&
                        e.type != EventType::kGet1ts && e.type != EventType::kGet1te;
    return window ? 1 : 0;
  }
  const Trace* trace_;
  IntervalColumn* log_ = nullptr;
  std::array<Table, 2> open_;  // without and with a window
};

class TransferQueues : public OpenTransfers {
 public:
  using OpenTransfers::OpenTransfers;
  void apply(const Event& e) {
    startptr_ = kNoEvent;
    if (!is_rma_comm(e.type)) [[likely]]
      return;
    if (is_put_start(e.type)) {
      put(origin_here(e), e);
    } else if (is_get_start(e.type)) {
      put(origin_there(e), e);
    } else if (is_put_end(e.type)) {
      startptr_ = take(origin_there(e), e);
    } else if (is_get_end(e.type)) {
      startptr_ = take(origin_here(e), e);
    }
  }
  // The pointer of the latest event.
  std::uint64_t startptr() const { return startptr_; }

 private:
  std::uint64_t startptr_ = kNoEvent;
};

class OriginQueues : public OpenTransfers {
 public:
  using OpenTransfers::OpenTransfers;
  void apply(const Event& e) {
    originptr_ = kNoEvent;
    if (is_get_origin(e.type) || is_put_origin(e.type)) {
      put(origin_here(e), e);
    } else if (size() != 0 && is_get_start(e.type)) {
      originptr_ = take(origin_there(e), e);
    } else if (size() != 0 && is_put_start(e.type)) {
      originptr_ = take(origin_here(e), e);
    }
  }
  std::uint64_t originptr() const { return originptr_; }

 private:
  std::uint64_t originptr_ = kNoEvent;
};

}  // namespace kojak::earl::sequence

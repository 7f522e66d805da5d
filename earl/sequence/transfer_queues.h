// State aspects of transfers: the transfer queue (starts without an end yet) and the origin queue
// (GET_1TO whose GET_1TS has not come; with lock grants also PUT_1TO whose PUT_1TS has not), both
// per location. Each can be used alone.
//
// Feed them every event in file order. A transfer is known by its origin process and its number
// there; those with and without a window are apart. Memory: open transfers. Not thread-safe;
// nothing fails. Source: EARL spec, "transfer queue", "origin queue", startptr and originptr.
#pragma once

#include <vector>

#include "earl/detail/flat_index.h"
#include "earl/detail/pool.h"
#include "earl/sequence/blob.h"
#include "earl/trace.h"

namespace kojak::earl::sequence {

// Transfer events that wait for another one of the same transfer.
class OpenTransfers {
 public:
  explicit OpenTransfers(const Trace& trace) : trace_(&trace) {}
  // Numbers of the waiting events of a location, in file order.
  std::vector<std::uint64_t> of(LocationId location) const;
  std::size_t size() const { return items_.live(); }
  void save(BlobWriter& out) const;
  void load(BlobReader& in);

 protected:
  // The process that issued the transfer of an event whose origin is elsewhere, or here.
  ProcessId origin_here(const Event& e) const { return process(e.loc); }
  ProcessId origin_there(const Event& e) const {
    return process(static_cast<LocationId>(raw(e.peer)));
  }
  void put(ProcessId origin, const Event& e);
  // Takes it out; kNoEvent if there is none.
  std::uint64_t take(ProcessId origin, const Event& e);

 private:
  struct Item {
    detail::Key128 key;
    std::uint64_t pos = 0;
    LocationId loc{};
  };
  ProcessId process(LocationId location) const {
    const std::uint32_t i = trace_->index(location);
    return i != kAbsent ? trace_->process(i) : static_cast<ProcessId>(raw(location));
  }
  static detail::Key128 key(ProcessId origin, const Event& e) {
    const bool window = e.type != EventType::kPut1ts && e.type != EventType::kPut1te &&
                        e.type != EventType::kGet1ts && e.type != EventType::kGet1te;
    return {std::uint64_t{raw(origin)} << 32 | raw(e.rmaid), window ? 1u : 0u};
  }
  const Trace* trace_;
  detail::Pool<Item> items_;
  detail::FlatIndex<detail::Key128> index_;
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
  // Of the latest event.
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

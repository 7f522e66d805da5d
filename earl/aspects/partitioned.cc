#include "earl/aspects/partitioned.h"

#include <algorithm>

namespace kojak::earl {

void PartitionedMessages::begin(const OpenCall& call, const MpiPartBegin& r, ProcessId peer) {
  constexpr std::uint8_t kSends = 1;
  if (find(call.process, r.reqid) != kNone) return;
  const bool sends = raw(r.side) == kSends;
  const Name name{r.cid, sends ? call.process : peer, sends ? peer : call.process, r.tag,
                  raw(r.channel)};
  auto channel = static_cast<std::uint32_t>(channels_.size());
  const std::uint32_t known = names_.add(name, channel);
  if (known == kNone) {
    channels_.emplace_back();
  } else {
    channel = known;
  }
  const std::uint32_t i = requests_.take();
  requests_[i] = {r.reqid, channel, raw(r.start), sends};
  requests_of_[raw(call.process)].insert(raw(r.reqid), i);
}

void PartitionedMessages::ready(const OpenCall& call, RequestId id) {
  const std::uint32_t i = find(call.process, id);
  if (i == kNone || !requests_[i].sends) return;
  Channel& channel = channels_[requests_[i].channel];
  const std::uint64_t start = requests_[i].start;
  if (start <= channel.received) return;
  std::vector<Start>& starts = channel.starts;
  if (!starts.empty() && starts.back().number == start) {
    if (starts.back().ready.enter < call.enter) starts.back().ready = call;
    return;
  }
  if (starts.size() == kMostStarts) starts.erase(starts.begin());
  starts.push_back({start, call});
}

const OpenCall* PartitionedMessages::end(ProcessId process, RequestId id) {
  const std::uint32_t i = find(process, id);
  if (i == kNone) return nullptr;
  const Request request = requests_[i];
  requests_of_[raw(process)].erase(raw(id));
  requests_.give_back(i);
  if (request.sends) return nullptr;
  Channel& channel = channels_[request.channel];
  channel.received = std::max(channel.received, request.start);
  std::vector<Start>& starts = channel.starts;
  const OpenCall* last = nullptr;
  const auto behind = std::find_if(starts.begin(), starts.end(),
                                   [&](const Start& s) { return s.number > request.start; });
  if (behind != starts.begin() && (behind - 1)->number == request.start) {
    found_ = (behind - 1)->ready;
    last = &found_;
  }
  starts.erase(starts.begin(), behind);
  return last;
}

void PartitionedMessages::pause(ProcessId process) {
  detail::RequestTable& table = requests_of_[raw(process)];
  table.for_each([&](std::uint32_t i) { requests_.give_back(i); });
  table = {};
}

}  // namespace kojak::earl

// State aspect: partitioned messages (MPI 4.0, chapter 4): which call gave the last part of a
// message away.
//
// Sender and receiver belong together by what stands in both sides' MPI_PART_BEGIN: communicator,
// pair, tag, number of the message among those made with these, number of the start. Feed it the
// records in file order. Memory: messages made (for each the starts that the receiver has not
// completed, at most kMostStarts of them) and open requests. On a communicator of unknown identity
// nothing is paired.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "earl/call.h"
#include "earl/detail/flat_index.h"
#include "earl/detail/request_table.h"
#include "earl/pool.h"
#include "epilog/format/mpi_roles.h"
#include "epilog/format/record/records.h"

namespace kojak::earl {

class PartitionedMessages {
 public:
  explicit PartitionedMessages(std::uint32_t processes) : requests_of_(processes) {}

  void begin(const OpenCall& call, const MpiPartBegin& r, ProcessId peer);
  // Parts are given away in this call.
  void ready(const OpenCall& call, RequestId id);
  // The request is complete. At the receiver: the call that gave the last part away, nullptr if it
  // is not known. Valid until the next call.
  const OpenCall* end(ProcessId process, RequestId id);
  // Recording of the process was switched off: its open requests may complete unseen.
  void pause(ProcessId process);

  // None is started; what its sender has given away its receiver has got.
  bool at_rest() const {
    return requests_.live() == 0 &&
           std::all_of(channels_.begin(), channels_.end(), [](const Channel& c) {
             return c.starts.empty() || c.starts.back().number <= c.received;
           });
  }

 private:
  static constexpr std::size_t kMostStarts = 64;

  struct Name {
    CommId com{};
    ProcessId sender{}, receiver{};
    Tag tag{};
    std::uint64_t channel = 0;
    bool operator==(const Name&) const = default;
    std::uint64_t hash() const {
      const std::uint64_t pair = std::uint64_t{raw(sender)} << 32 | raw(receiver);
      const std::uint64_t where = std::uint64_t{raw(com)} << 32 | raw(tag);
      return detail::mix(detail::mix(pair, where), channel);
    }
  };
  struct Start {
    std::uint64_t number = 0;
    OpenCall ready;
  };
  struct Channel {
    std::uint64_t received = 0;  // the last start that the receiver has completed
    std::vector<Start> starts;   // of the sender, ascending, of which parts were given away
  };
  struct Request {
    RequestId id{};
    std::uint32_t channel = 0;
    std::uint64_t start = 0;
    bool sends = false;
  };

  std::uint32_t find(ProcessId process, RequestId id) const {
    return requests_of_[raw(process)].find(raw(id));
  }

  detail::FlatIndex<Name> names_;
  std::vector<Channel> channels_;
  Pool<Request> requests_;
  std::vector<detail::RequestTable> requests_of_;  // by process
  OpenCall found_;
};

// The partitioned message that decided when a call that received several could end.
struct GivenParts {
  bool any = false;
  OpenCall deciding;  // gave its last part away

  void add(MpiRole role, const OpenCall* last) {
    if (last == nullptr) return;
    if (!any || (last->enter < deciding.enter) == first_one_ends(role)) deciding = *last;
    any = true;
  }
};

}  // namespace kojak::earl

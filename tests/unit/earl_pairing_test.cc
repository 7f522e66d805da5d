// The pairing of messages against a simulated MPI library, on random programs.
#include <algorithm>
#include <random>

#include "earl/detail/message_line.h"
#include "earl/detail/request_table.h"
#include "tests/unit/earl_sequences.h"

namespace kojak::earl {
namespace {

TEST(EarlRequestTable, FindsOldAndRecentRequests) {
  detail::RequestTable table;
  table.insert(0, 100);  // stays open all the time
  std::vector<std::uint32_t> open;
  std::mt19937 random(3);
  for (std::uint32_t id = 1; id < 20000; ++id) {
    table.insert(id, id + 100);
    open.push_back(id);
    while (!open.empty() && random() % 3 != 0) {
      const std::size_t i = random() % open.size();
      ASSERT_EQ(table.find(open[i]), open[i] + 100);
      table.erase(open[i]);
      ASSERT_EQ(table.find(open[i]), kNone);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  EXPECT_EQ(table.find(0), 100u);
  std::size_t count = 0;
  table.for_each([&](std::uint32_t) { ++count; });
  EXPECT_EQ(count, open.size() + 1);
}

TEST(EarlMessageQueue, AloneAndSmallWhateverNobodyWaitsFor) {
  // Ever new tags, sends whose requests are never completed, a request that stays open.
  Findings findings;
  MessageQueue queue(2, true, findings);
  OpenCall sender, receiver;
  receiver.process = rank(1);
  std::uint64_t pos = 0;
  std::size_t delivered = 0;
  const auto count = [&](const MessageCall& m) { delivered += m.received.size(); };
  for (std::uint32_t n = 0; n < 600000; ++n) {
    std::uint32_t send_ref = 0, receive_ref = 0;
    const auto tag = static_cast<Tag>(n);
    queue.send({&sender, pos++, {}, rank(1), {}, tag, {}, static_cast<RequestId>(n)}, false,
               send_ref);
    EXPECT_EQ(send_ref, 0u);
    queue.receive({&receiver, pos++, {}, rank(0), {}, tag, {}, true, absent<RequestId>()}, true,
                  receive_ref);
    Call call;
    call.exit_pos = pos++;
    queue.leave(receive_ref, call, count);
  }
  EXPECT_EQ(delivered, 600000u);
  EXPECT_EQ(queue.in_flight(), 0u);
  EXPECT_LE(queue.open_requests(), 1u << 14);
  queue.finish();
  findings.for_each([](Finding f, const Findings::Row&) { ADD_FAILURE() << info(f).name; });
}

// A queue between two processes, and the receiver's calls.
struct TwoProcesses {
  Findings findings;
  MessageQueue queue{2, true, findings};
  OpenCall sender, receiver;
  std::uint64_t pos = 0;
  std::vector<std::uint64_t> paired;  // positions of the SENDs, in order of delivery
  TwoProcesses() { receiver.process = rank(1); }
  void deliver(const MessageCall& m) {
    for (const Message* one : m.received) paired.push_back(one->send_pos);
  }
  std::uint64_t send(std::uint32_t tag) {
    std::uint32_t ref = 0;
    queue.send({&sender, pos, {}, rank(1), {}, Tag{tag}, {}, absent<RequestId>()}, false, ref);
    return pos++;
  }
  void post(std::uint32_t request, ProcessId source, Tag tag) {
    queue.post(receiver, pos++, RequestId{request}, source, {}, tag);
  }
  void receive(std::uint32_t tag, RequestId request = absent<RequestId>()) {
    std::uint32_t ref = 0;
    receiver.enter_pos = pos;
    queue.receive({&receiver, pos++, {}, rank(0), {}, Tag{tag}, {}, true, request},
                  is_absent(request), ref);
    Call call;
    call.exit_pos = pos++;
    const auto f = [&](const MessageCall& m) { deliver(m); };
    if (ref != 0) queue.leave(ref, call, f);
  }
  void finish() {
    queue.finish();
    queue.drain([&](const MessageCall& m) { deliver(m); });
    EXPECT_EQ(queue.held(), 0u);
    EXPECT_EQ(queue.in_flight(), 0u);
  }
};

// The sizes below take minutes if a step depends on how much waits.
constexpr std::uint32_t kMany = 100000;

TEST(EarlMessageQueue, ReceivesWhoseSenderWasCutOffAreGivenUpInTime) {
  for (const std::uint32_t tags : {1u, 1000u, kMany}) {
    TwoProcesses run;
    std::size_t most = 0;
    for (std::uint32_t n = 0; n < kMany; ++n) {
      run.receive(n % tags);
      most = std::max(most, run.queue.held());
    }
    EXPECT_LE(most, MessageQueue::kMaxAhead);
    run.finish();
    EXPECT_EQ(run.findings[Finding::kUnmatchedReceive].count, kMany);
    EXPECT_TRUE(run.paired.empty());
  }
}

TEST(EarlMessageQueue, ASenderThatComesLateIsPairedAllTheSame) {
  TwoProcesses run;
  std::vector<std::uint64_t> sends;
  for (std::uint32_t n = 0; n < 1000; ++n) run.receive(n % 7);
  for (std::uint32_t n = 0; n < 1000; ++n) sends.push_back(run.send(n % 7));
  run.finish();
  std::sort(run.paired.begin(), run.paired.end());
  EXPECT_EQ(run.paired, sends);
  EXPECT_EQ(run.findings[Finding::kReceiveBeforeSend].count, 1000u);
}

TEST(EarlMessageQueue, ReceivesHeldByAnEarlyPostCostNothingWhileTheyWait) {
  constexpr std::uint32_t kHeld = MessageQueue::kMaxHeld / 2;
  // One receive from anybody stays posted to the end; all others complete after it, in any order.
  std::mt19937 random(5);
  for (const std::uint32_t tags : {1u, 100u, 20000u}) {
    for (const bool any_tag : {false, true}) {
      TwoProcesses run;
      run.post(0, absent<ProcessId>(), any_tag ? absent<Tag>() : Tag{0});
      std::vector<std::uint32_t> order;
      for (std::uint32_t n = 1; n <= kHeld; ++n) {
        run.send(n % tags);
        run.post(n, n % 3 == 0 ? absent<ProcessId>() : rank(0), Tag{n % tags});
        order.push_back(n);
      }
      std::shuffle(order.begin(), order.end(), random);
      for (const std::uint32_t n : order) run.receive(n % tags, RequestId{n});
      const std::uint64_t last = run.send(0);
      run.receive(0, RequestId{0});
      EXPECT_EQ(run.paired.size(), kHeld + 1u);
      EXPECT_EQ(std::count(run.paired.begin(), run.paired.end(), last), 1);
      run.findings.for_each([](Finding f, const Findings::Row&) { ADD_FAILURE() << info(f).name; });
      run.finish();
    }
  }
}

TEST(EarlMessageQueue, MoreThanMayBeHeldIsPairedInOrderOfCompletion) {
  // A receive whose request was freed never completes.
  TwoProcesses run;
  run.post(0, absent<ProcessId>(), absent<Tag>());
  std::size_t most = 0;
  for (std::uint32_t n = 1; n <= kMany; ++n) {
    run.send(n % 5);
    run.receive(n % 5);
    most = std::max(most, run.queue.held());
  }
  EXPECT_LE(most, MessageQueue::kMaxHeld + 1);
  EXPECT_EQ(run.findings[Finding::kHeldTooLong].count, 1u);
  run.finish();
  EXPECT_EQ(run.paired.size(), kMany);
}

struct SimulatedMessage {
  int source = 0, destination = 0, tag = 0;
  double sent = 0;        // identifies it
  double received = 1e9;  // time of the exit of the call that received it
};

// A library with eager sends; receives match in order of posting, messages in order of arrival.
class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {}

  void run(int steps) {
    for (int p = 0; p < kProcesses; ++p) line("ENTER", p, "region=main");
    for (int i = 0; i < steps; ++i) {
      const int p = pick(kProcesses);
      switch (pick(8)) {
        case 0:
        case 1:
        case 2:
          send(p);
          break;
        case 3:
        case 4:
          post(p);
          break;
        case 5:
        case 6:
          complete(p, 1);
          break;
        default:
          complete(p, 1 + pick(4));
      }
    }
    for (int p = 0; p < kProcesses; ++p) {
      complete(p, 1 << 20);
      line("EXIT", p, "");
    }
  }

  std::string text;
  std::vector<SimulatedMessage> messages;
  struct Receive {
    double call_enter;
    int process;
    std::vector<std::size_t> messages;  // in order of the RECVs
  };
  std::vector<Receive> receives;

 private:
  static constexpr int kProcesses = 3;
  struct Posted {
    int source, tag, request;  // -1: any
    std::ptrdiff_t message = -1;
  };
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  double line(const std::string& name, int p, const std::string& rest) {
    now_ += 1;
    text +=
        name + " lid=" + std::to_string(p) + " time=" + std::to_string(now_) + " " + rest + "\n";
    return now_;
  }
  static bool fits(const Posted& r, const SimulatedMessage& m) {
    return r.message < 0 && (r.source < 0 || r.source == m.source) && (r.tag < 0 || r.tag == m.tag);
  }
  void send(int p) {
    line("ENTER", p, "region=MPI_Isend");
    SimulatedMessage m;
    m.source = p;
    m.destination = pick(kProcesses);
    m.tag = pick(2);
    m.sent = line("MPI_SEND", p,
                  "dlid=" + std::to_string(m.destination) + " tag=" + std::to_string(m.tag));
    line("EXIT", p, "");
    messages.push_back(m);
    const auto index = static_cast<std::ptrdiff_t>(messages.size() - 1);
    for (Posted& r : posted_[m.destination]) {
      if (fits(r, m)) {
        r.message = index;
        return;
      }
    }
    unexpected_[m.destination].push_back(index);
  }
  void post(int p) {
    Posted r{pick(3) == 0 ? -1 : pick(kProcesses), pick(4) == 0 ? -1 : pick(2), request_[p]++};
    line("ENTER", p, "region=MPI_Irecv");
    line("MPI_RECV_REQUEST", p,
         "reqid=" + std::to_string(r.request) +
             (r.source < 0 ? "" : " slid=" + std::to_string(r.source)) +
             (r.tag < 0 ? "" : " tag=" + std::to_string(r.tag)));
    line("EXIT", p, "");
    auto& list = unexpected_[p];
    for (auto it = list.begin(); it != list.end(); ++it) {
      if (fits(r, messages[static_cast<std::size_t>(*it)])) {
        r.message = *it;
        list.erase(it);
        break;
      }
    }
    posted_[p].push_back(r);
  }
  // A Waitsome over requests that have their messages, in random order.
  void complete(int p, int most) {
    std::vector<Posted>& list = posted_[p];
    std::vector<Posted> done;
    for (int n = 0; n < most; ++n) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].message >= 0) ready.push_back(i);
      }
      if (ready.empty()) break;
      const std::size_t i = ready[static_cast<std::size_t>(pick(static_cast<int>(ready.size())))];
      done.push_back(list[i]);
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (done.empty()) return;
    Receive receive{line("ENTER", p, "region=MPI_Waitsome"), p, {}};
    for (const Posted& r : done) {
      const auto index = static_cast<std::size_t>(r.message);
      const SimulatedMessage& m = messages[index];
      text += "ATTR_UI4 kind=2 value=" + std::to_string(r.request) + "\n";
      line("MPI_RECV", p, "slid=" + std::to_string(m.source) + " tag=" + std::to_string(m.tag));
      receive.messages.push_back(index);
    }
    const double exit = line("EXIT", p, "");
    for (const std::size_t m : receive.messages) messages[m].received = exit;
    receives.push_back(receive);
  }

  std::mt19937 random_;
  double now_ = 0;
  int request_[kProcesses] = {};
  std::vector<Posted> posted_[kProcesses];
  std::vector<std::ptrdiff_t> unexpected_[kProcesses];
};

TEST(EarlPairing, FindsWhatTheLibraryMatched) {
  int held_flags = 0;
  for (unsigned seed = 1; seed <= 80; ++seed) {
    Simulation simulation(seed);
    simulation.run(150);
    const Pass run(simulation.text);
    run.expect_only({Finding::kUnreceivedSend});
    expect_same_analysis(run.bytes);
    if (seed % 20 == 0) expect_same_access(run.bytes, seed, 20);
    std::size_t received = 0;
    for (const MessageCallCopy& call : run.out.messages) received += call.received.empty() ? 0 : 1;
    ASSERT_EQ(received, simulation.receives.size()) << seed;
    for (const Simulation::Receive& expected : simulation.receives) {
      const auto call = std::find_if(
          run.out.messages.begin(), run.out.messages.end(),
          [&](const MessageCallCopy& m) { return m.call.enter.value == expected.call_enter; });
      ASSERT_NE(call, run.out.messages.end()) << seed;
      ASSERT_EQ(call->received.size(), expected.messages.size());
      for (std::size_t i = 0; i < expected.messages.size(); ++i) {
        const SimulatedMessage& m = simulation.messages[expected.messages[i]];
        ASSERT_EQ(call->received[i].send_time.value, m.sent) << "seed " << seed;
        // Older messages that this call's exit left open.
        const auto older_open = [&](auto&& same) {
          return std::any_of(simulation.messages.begin(), simulation.messages.end(),
                             [&](const SimulatedMessage& o) {
                               return same(o) && o.sent < m.sent &&
                                      o.received > call->call.exit.value;
                             });
        };
        // What a held receive of another call took is not known when this one is judged; the
        // answer may then err towards "open", never towards "received".
        const bool to_receiver =
            older_open([&](const SimulatedMessage& o) { return o.destination == m.destination; });
        const bool of_sender =
            older_open([&](const SimulatedMessage& o) { return o.source == m.source; });
        if (to_receiver) {
          EXPECT_TRUE(call->received[i].older_to_receiver_pending) << seed;
        }
        if (of_sender) {
          EXPECT_TRUE(call->received[i].older_of_sender_pending) << seed;
        }
        held_flags += call->received[i].older_to_receiver_pending != to_receiver ? 1 : 0;
        held_flags += call->received[i].older_of_sender_pending != of_sender ? 1 : 0;
      }
    }
  }
  EXPECT_LT(held_flags, 30);  // of some thousands
}

}  // namespace
}  // namespace kojak::earl

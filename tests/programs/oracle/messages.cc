// Point-to-point messages. The programs name each message, so nothing has to be matched here.
#include <algorithm>
#include <stdexcept>

#include "tests/programs/oracle/truth.h"

namespace kojak::oracle {
namespace {

struct Message {
  const Call* send = nullptr;
  const Call* post = nullptr;  // Irecv or Start; otherwise the receive itself
  const Call* recv = nullptr;
  const Call* finish = nullptr;

  double posted() const { return (post != nullptr ? post : recv)->enter; }
};

using Messages = std::map<std::string, Message>;

Messages read_messages(const Notes& run) {
  Messages messages;
  const auto note = [&](const Call& call, const char* key, const Call* Message::*role) {
    for (const std::string& name : call.list(key)) {
      Message& message = messages[name];
      if (message.*role != nullptr) throw std::runtime_error("message " + name + ": twice " + key);
      message.*role = &call;
    }
  };
  for (const auto& calls : run.calls) {
    for (const Call& call : calls) {
      note(call, "send", &Message::send);
      note(call, "post", &Message::post);
      note(call, "recv", &Message::recv);
      note(call, "finish", &Message::finish);
    }
  }
  for (const auto& [name, message] : messages)
    if (message.send == nullptr || message.recv == nullptr)
      throw std::runtime_error("message " + name + ": sent or received by nobody");
  return messages;
}

// A single one, which does not wait.
bool is_test(const Call& call) {
  return call.function.starts_with("MPI_Test") && !call.has("polls");
}

// Whether `other` was sent before `message` and is still under way when `message` is received.
bool overtaken(const Message& other, const Message& message) {
  return other.send->enter < message.send->enter && other.recv != message.recv &&
         other.recv->exit > message.recv->exit;
}

// The message that decides how long a call waited: in MPI_Waitall the last one, otherwise the
// first.
const Message& decisive(const Call& call, const std::vector<const Message*>& messages,
                        double (*time)(const Message&)) {
  const auto earlier = [&](const Message* a, const Message* b) { return time(*a) < time(*b); };
  return call.function == "MPI_Waitall" ? **std::ranges::max_element(messages, earlier)
                                        : **std::ranges::min_element(messages, earlier);
}

double sent_at(const Message& message) {
  return message.send->enter;
}
double posted_at(const Message& message) {
  return message.posted();
}

std::vector<const Message*> named(const Messages& messages, const Call& call, const char* key) {
  std::vector<const Message*> result;
  for (const std::string& name : call.list(key)) result.push_back(&messages.at(name));
  return result;
}

// The messages whose receivers the call may wait for.
std::vector<const Message*> sends_awaited(const Messages& messages, const Call& call) {
  static const std::vector<std::string> kBlocking = {"MPI_Send", "MPI_Ssend", "MPI_Rsend",
                                                     "MPI_Sendrecv"};
  if (std::ranges::find(kBlocking, call.function) != kBlocking.end())
    return named(messages, call, "send");
  std::vector<const Message*> result = named(messages, call, "finish");
  std::erase_if(result, [](const Message* m) { return m->send->function == "MPI_Ibsend"; });
  return result;
}

}  // namespace

void Truth::add_messages(const Notes& run) {
  const Messages messages = read_messages(run);
  for (const auto& calls : run.calls) {
    for (const Call& c : calls) {
      if (is_test(c)) continue;
      for (const Message* found : named(messages, c, "found"))  // a probe
        add("mpi_latesender", c, overlap(c, c.enter, found->send->enter));
      double late_sender = 0;
      if (const auto received = named(messages, c, "recv"); !received.empty()) {
        const Message& message = decisive(c, received, sent_at);
        late_sender = overlap(c, c.enter, message.send->enter);
        add("mpi_latesender", c, late_sender);
        for (const auto& [name, other] : messages) {
          if (other.recv->rank != c.rank || !overtaken(other, message)) continue;
          add("mpi_latesender_wo", c, late_sender);
          break;
        }
      }
      std::vector<const Message*> sent = sends_awaited(messages, c);
      if (c.function == "MPI_Waitall")  // what was posted after the call's end did not block it
        std::erase_if(sent, [&](const Message* m) { return m->posted() > c.exit; });
      if (sent.empty()) continue;
      const Message& message = decisive(c, sent, posted_at);
      // Both intervals begin where the call does: the difference of the sets is that of the
      // lengths.
      const double wait = std::max(0.0, blocked(c, {message.posted()}) - late_sender);
      add("mpi_latereceiver", c, wait);
      for (const auto& [name, other] : messages) {
        if (other.send->rank != c.rank || !overtaken(other, message)) continue;
        add("mpi_latereceiver_wo", c, wait);
        break;
      }
    }
  }
}

}  // namespace kojak::oracle

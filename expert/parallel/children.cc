#include "expert/parallel/children.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

namespace kojak::parallel {
namespace {

// Before the bytes.
struct Header {
  std::uint8_t good = 0;
  std::uint8_t code = 0;   // of an error, whose message follows
  std::uint64_t size = 0;  // of what follows
};

// Who does not read any more is found when he is heard.
bool write_all(int to, const void* from, std::size_t n) {
  const auto* p = static_cast<const std::byte*>(from);
  while (n != 0) {
    const ssize_t sent = ::send(to, p, n, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    p += sent;
    n -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool read_all(int from, void* to, std::size_t n) {
  auto* p = static_cast<std::byte*>(to);
  while (n != 0) {
    const ssize_t got = ::read(from, p, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    p += got;
    n -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_message(int to, const Bytes& done) {
  Header header;
  std::string why;
  if (done) {
    header.good = 1;
  } else {
    header.code = static_cast<std::uint8_t>(done.error().code);
    why = done.error().message();
  }
  const void* const from = done ? static_cast<const void*>(done->data()) : why.data();
  header.size = done ? done->size() : why.size();
  return write_all(to, &header, sizeof header) && write_all(to, from, header.size);
}

bool read_message(int from, Header& header, std::vector<std::byte>& bytes) {
  if (!read_all(from, &header, sizeof header)) return false;
  bytes.resize(header.size);
  return read_all(from, bytes.data(), bytes.size());
}

[[noreturn]] void be_child(std::size_t k, int parent_end, const Children::Work& work,
                           pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  const auto ask = [&](const Bytes& given) {
    Header header;
    std::vector<std::byte> answer;
    if (!write_message(parent_end, given) || !read_message(parent_end, header, answer)) ::_exit(1);
    return answer;
  };
  const Bytes done = guarded([&] { return work(k, ask); });
  ::_exit(write_message(parent_end, done) ? 0 : 1);
}

std::string words_of(int status) {
  if (!WIFSIGNALED(status)) return "it ended before it was done";
  const int signal = WTERMSIG(status);
  std::string words = "it was ended by signal " + std::to_string(signal);
  if (signal == SIGKILL) words += " (killed, often for want of memory)";
  return words;
}

}  // namespace

std::string Children::part(std::size_t k) const {
  return "part " + std::to_string(k + 1) + " of " + std::to_string(children_.size() + 1);
}

Error Children::failed(std::size_t k, const std::string& why) const {
  return Error{
      .code = ExitCode::kOutputFailed,
      .reason = part(k) + " could not be analysed: " + why,
      .remedy = "fewer processes need less memory and files; without --processes one does it all"};
}

Status Children::start(std::size_t n, const Work& work) {
  const pid_t parent = ::getpid();
  children_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return failed(k, std::strerror(errno));
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      for (std::size_t other = 0; other < k; ++other) ::close(children_[other].socket);
      be_child(k, ends[1], work, parent);
    }
    const int error = errno;
    ::close(ends[1]);
    children_[k] = {pid, ends[0]};
    if (pid < 0) return failed(k, std::strerror(error));
  }
  return {};
}

int Children::end(Child& child) {
  ::close(std::exchange(child.socket, -1));
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  child.pid = -1;
  return status;
}

Bytes Children::hear(std::size_t k) {
  Header header;
  std::vector<std::byte> bytes;
  const int from = children_[k].socket;
  if (!patience_.waiting_for(part(k), [&] { return read_message(from, header, bytes); })) {
    return failed(k, words_of(end(children_[k])));
  }
  if (header.good != 0) return bytes;
  Error error = failed(k, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  error.code = static_cast<ExitCode>(header.code);
  if (error.reason.ends_with(')')) error.remedy.clear();  // it has one of its own
  return error;
}

void Children::tell(std::size_t k, const std::vector<std::byte>& answer) {
  (void)write_message(children_[k].socket, answer);
}

Children::~Children() {
  for (Child& child : children_) {
    if (child.pid > 0) {
      ::kill(child.pid, SIGKILL);
      end(child);
    } else if (child.socket >= 0) {
      ::close(child.socket);
    }
  }
}

}  // namespace kojak::parallel

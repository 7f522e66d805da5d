// elg_keep: keeps the newest records of one measured process beyond its death.
//
// Started by the measurement library (keeper.h says how) with the process's number; descriptor 3 is
// the socket on which the library hands over the memory of each thread's buffer, descriptor 4 tells
// when the process has ended (absent under kernels before 5.3). Sleeps until then, saves what the
// process did not write itself, and ends. It has nothing else of the process: no descriptors, no
// environment, no directory, no terminal. It answers nobody but that process.
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "epilog/format/compact/encode.h"
#include "epilog/format/io/running.h"
#include "epilog/runtime/clock.h"
#include "epilog/runtime/save_buffer.h"

namespace {

using namespace kojak;
using namespace kojak::measure;

constexpr int kSocket = 3, kProcess = 4;
constexpr int kLookEvery = 250;  // milliseconds, where nobody tells that the process has ended

struct Buffer {
  std::byte* memory;
  std::size_t size;
  Buffer* next;
};
Buffer* buffers = nullptr;

std::uint32_t state_of(const Buffer& buffer) {
  const auto* const header = reinterpret_cast<const LocalBufferHeader*>(buffer.memory);
  return __atomic_load_n(&header->state, __ATOMIC_ACQUIRE);
}

// Lets go of the buffers of threads that have ended.
void drop_closed() {
  for (Buffer** link = &buffers; *link != nullptr;) {
    Buffer* const buffer = *link;
    if (state_of(*buffer) != LocalBufferHeader::kClosed) {
      link = &buffer->next;
      continue;
    }
    *link = buffer->next;
    munmap(buffer->memory, buffer->size);
    free(buffer);
  }
}

void add(int memory) {
  struct stat info {};
  if (fstat(memory, &info) != 0 || info.st_size < static_cast<off_t>(kBufferRecordsAt)) return;
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, memory, 0);
  auto* const buffer = static_cast<Buffer*>(malloc(sizeof(Buffer)));
  if (data == MAP_FAILED || buffer == nullptr) return;
  *buffer = {static_cast<std::byte*>(data), size, buffers};
  buffers = buffer;
}

// Takes one buffer; false if none waits.
bool take(std::uint32_t process) {
  const int connection = accept4(kSocket, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return errno == EINTR || errno == ECONNABORTED;
  ucred sender{};
  socklen_t length = sizeof sender;
  char byte;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const bool ours = getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &sender, &length) == 0 &&
                    static_cast<std::uint32_t>(sender.pid) == process;
  // What the process hands over it sends at once. Whoever else connects is not waited for.
  pollfd sent = {connection, POLLIN, 0};
  if (ours && poll(&sent, 1, 1000) == 1 && recvmsg(connection, &message, MSG_CMSG_CLOEXEC) == 1) {
    const cmsghdr* const head = CMSG_FIRSTHDR(&message);
    if (head != nullptr && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int))) {
      int memory;
      memcpy(&memory, CMSG_DATA(head), sizeof memory);
      add(memory);
      close(memory);
    }
  }
  close(connection);
  return true;
}

// When the process ended, in its own clock: close behind, since this process sleeps until then.
Seconds now_of(const LocalBufferHeader& header) {
  const bool counts = header.clock == LocalBufferHeader::kCycles;
  const Ticks now = counts ? read_counter() : monotonic_nanoseconds();
  return compact::TickClock{header.clock_base, header.clock_scale, header.clock_shift}.seconds(now);
}

// Nothing else tells how long a process stood in its last call.
int save(const Buffer& buffer, const LocalBufferHeader& header) {
  if (header.clock == LocalBufferHeader::kNoClock) return save_buffer(buffer.memory);
  std::byte last[64];
  const ProcessEnded ended{static_cast<LocationId>(header.location), now_of(header)};
  return save_buffer(buffer.memory, last,
                     static_cast<std::size_t>(compact::encode_verbatim(ended, last) - last));
}

void save_all() {
  for (const Buffer* buffer = buffers; buffer != nullptr; buffer = buffer->next) {
    const auto& header = *reinterpret_cast<const LocalBufferHeader*>(buffer->memory);
    if (state_of(*buffer) != LocalBufferHeader::kInMemory ||
        memcmp(header.magic, LocalBufferHeader::kMagic, sizeof header.magic) != 0) {
      continue;
    }
    (void)save(*buffer, header);  // the file says what failed
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const auto process = static_cast<std::uint32_t>(strtoul(argv[1], nullptr, 10));
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  const bool told = fcntl(kProcess, F_GETFD) >= 0;
  fcntl(kSocket, F_SETFL, O_NONBLOCK);
  for (bool ended = false; !ended;) {
    pollfd wait[2] = {{kSocket, POLLIN, 0}, {kProcess, POLLIN, 0}};
    const int ready = poll(wait, told ? 2 : 1, told ? -1 : kLookEvery);
    if (ready < 0 && errno != EINTR) return 1;
    ended = told ? ready > 0 && wait[1].revents != 0 : !is_running(process);
    while (take(process)) {
    }
    drop_closed();
  }
  save_all();
  return 0;
}

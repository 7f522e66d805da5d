// elg_keep: keeps the newest records of one measured process beyond its death.
//
// Started by the measurement library (keeper.h says how) with the process's number, the rank of its
// threads that have none of their own, and the name of the run's folder. Descriptor 3 is the socket
// on which the library hands over the memory of each thread's buffer and asks for what the process
// cannot do itself (keeper_request.h), descriptor 4 tells when the process has ended (absent under
// kernels before 5.3), 5 is the folder, 6 the run's file, if there is one. Sleeps until the process
// has ended, saves what it did not write itself, and ends. It has nothing else of the process: no
// descriptors, no environment, no directory, no terminal. It answers nobody but that process, and
// writes to no other files: the process may have fewer rights by then. What the shared memory says
// is believed about records alone.
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "epilog/format/compact/encode.h"
#include "epilog/format/io/run_file.h"
#include "epilog/format/io/running.h"
#include "epilog/runtime/clock.h"
#include "epilog/runtime/keeper_request.h"
#include "epilog/runtime/save_buffer.h"
#include "epilog/runtime/save_samples.h"

namespace {

using namespace kojak;
using namespace kojak::measure;

constexpr int kSocket = 3, kProcess = 4, kFolder = 5, kRunFile = 6;
constexpr int kLookEvery = 250;  // milliseconds, where nobody tells that the process has ended

std::uint32_t rank = 0;
const char* folder_name = "";

struct Buffer {
  std::byte* memory;
  std::size_t size;
  std::uint32_t rank, thread;
  Buffer* next;
};
Buffer* buffers = nullptr;
// Buffers of threads that have recorded little, several in one memory: `thread` is the size of
// each.
Buffer* shared_buffers = nullptr;

struct FileName {
  char text[40];
  FileName(const Buffer& buffer, const char* suffix) {
    snprintf(text, sizeof text, "%u.%u.%s", buffer.rank, buffer.thread, suffix);
  }
};

std::uint32_t state_of(const Buffer& buffer) {
  const auto* const header = reinterpret_cast<const LocalBufferHeader*>(buffer.memory);
  return __atomic_load_n(&header->state, __ATOMIC_ACQUIRE);
}

void tell_why_stopped(const Buffer& buffer, int error) {
  char line[kMostTold];
  const int size =
      snprintf(line, sizeof line, "%s %u %s/%s cannot be written: %s\n", run_file::kStopped,
               buffer.rank, folder_name, FileName(buffer, "elg").text, strerror(error));
  if (size > 0 && size < static_cast<int>(sizeof line)) {
    (void)!write(kRunFile, line, static_cast<std::size_t>(size));
  }
}

// Tells what the process could not tell itself (run_file.h), before who waits for the records finds
// them; else that they could not be saved.
template <class F>
void save_and_tell(const Buffer& buffer, const F& save) {
  const int theirs = reinterpret_cast<const LocalBufferHeader*>(buffer.memory)->error;
  if (theirs != 0) tell_why_stopped(buffer, theirs);
  const int failed = save();
  if (failed != 0 && theirs == 0) tell_why_stopped(buffer, failed);
}

// Lets go of the buffers of threads that have ended, after saving those that were left.
void drop_closed() {
  for (Buffer** link = &buffers; *link != nullptr;) {
    Buffer* const buffer = *link;
    const std::uint32_t state = state_of(*buffer);
    if (state != LocalBufferHeader::kClosed && state != LocalBufferHeader::kLeft) {
      link = &buffer->next;
      continue;
    }
    if (state == LocalBufferHeader::kLeft) {
      save_and_tell(*buffer, [buffer] {
        return save_buffer(kFolder, FileName(*buffer, "buf").text, buffer->memory);
      });
    }
    *link = buffer->next;
    munmap(buffer->memory, buffer->size);
    free(buffer);
  }
}

void add(int memory, const KeeperRequest& request, Buffer*& list) {
  struct stat info {};
  if (fstat(memory, &info) != 0 || info.st_size < static_cast<off_t>(kBufferRecordsAt)) return;
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, memory, 0);
  auto* const buffer = static_cast<Buffer*>(malloc(sizeof(Buffer)));
  if (data == MAP_FAILED || buffer == nullptr) return;
  *buffer = {static_cast<std::byte*>(data), size, request.rank, request.thread, list};
  list = buffer;
}

int make_files(const Buffer& buffer) {
  LocalBufferHeader header = *reinterpret_cast<const LocalBufferHeader*>(buffer.memory);
  memcpy(header.magic, LocalBufferHeader::kMagic, sizeof header.magic);
  if (header.capacity > buffer.size - kBufferRecordsAt) return EINVAL;
  struct stat made {};
  return make_trace_files(kFolder, FileName(buffer, "elg").text, FileName(buffer, "buf").text,
                          header, false, made);
}

int write_out(const Buffer& buffer) {
  const LocalBufferHeader header = *reinterpret_cast<const LocalBufferHeader*>(buffer.memory);
  const std::uint64_t size = header.end - header.base;
  if (size > buffer.size - kBufferRecordsAt) return EINVAL;
  const int fd = openat(kFolder, FileName(buffer, "elg").text, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = write_fully(fd, buffer.memory + kBufferRecordsAt, size, header.base) ? 0 : errno;
  if (close(fd) != 0 && error == 0) error = errno;
  return error;
}

// What the process waits for: an errno.
std::int32_t answer(const KeeperRequest& request, const char* more, std::size_t length) {
  if (request.kind == KeeperRequest::kTell) {
    return write(kRunFile, more, length) == static_cast<ssize_t>(length) ? 0 : errno;
  }
  for (const Buffer* buffer = buffers; buffer != nullptr; buffer = buffer->next) {
    if (buffer->rank != request.rank || buffer->thread != request.thread) continue;
    if (request.kind == KeeperRequest::kMake) return make_files(*buffer);
    if (request.kind == KeeperRequest::kWrite) return write_out(*buffer);
  }
  return ENOENT;
}

// Takes one request; false if none waits.
bool take(std::uint32_t process) {
  const int connection = accept4(kSocket, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return errno == EINTR || errno == ECONNABORTED;
  ucred sender{};
  socklen_t length = sizeof sender;
  KeeperRequest request{};
  static char more[kMostTold];
  iovec parts[2] = {{&request, sizeof request}, {more, sizeof more}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const bool ours = getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &sender, &length) == 0 &&
                    static_cast<std::uint32_t>(sender.pid) == process;
  // What the process asks it sends at once. Whoever else connects is not waited for.
  pollfd sent = {connection, POLLIN, 0};
  const ssize_t got =
      ours && poll(&sent, 1, 1000) == 1 ? recvmsg(connection, &message, MSG_CMSG_CLOEXEC) : -1;
  if (got >= static_cast<ssize_t>(sizeof request)) {
    const cmsghdr* const head = CMSG_FIRSTHDR(&message);
    const bool many = request.kind == KeeperRequest::kTakeMany;
    if (many || request.kind == KeeperRequest::kTake) {
      if (head != nullptr && head->cmsg_type == SCM_RIGHTS &&
          head->cmsg_len == CMSG_LEN(sizeof(int))) {
        int memory;
        memcpy(&memory, CMSG_DATA(head), sizeof memory);
        add(memory, request, many ? shared_buffers : buffers);
        close(memory);
      }
    } else {
      const std::int32_t said =
          answer(request, more, static_cast<std::size_t>(got) - sizeof request);
      (void)!send(connection, &said, sizeof said, MSG_NOSIGNAL);
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

// What the process would have written: its samples, and when it ended, since nothing else tells how
// long it stood in its last call.
void put_last(const std::byte* memory, const LocalBufferHeader& header, LastRecords& last) {
  if (header.clock == LocalBufferHeader::kNoClock) return;
  const auto& note = *reinterpret_cast<const LocalBufferNote*>(memory + kBufferNoteAt);
  // Who is in a call has written its samples.
  for (const Buffer* other = buffers; other != nullptr && note.size == 0; other = other->next) {
    const auto& samples = *reinterpret_cast<const SampleMemory*>(other->memory);
    if (samples.is_of(header, other->size)) last.add_samples(samples);
  }
  last.put(ProcessEnded{static_cast<LocationId>(header.location), now_of(header)});
}

int save(const Buffer& buffer, const LocalBufferHeader& header) {
  LastRecords last(header);
  put_last(buffer.memory, header, last);
  return save_buffer(kFolder, FileName(buffer, "buf").text, buffer.memory, last.records(),
                     last.size());
}

// Each small buffer in use becomes a file. A thread that has one already was about to leave its
// small buffer, and has the same records there.
void save_shared(const Buffer& all) {
  const std::size_t each = all.thread;
  if (each < kBufferRecordsAt) return;
  for (std::size_t at = 0; at + each <= all.size; at += each) {
    const auto& header = *reinterpret_cast<const LocalBufferHeader*>(all.memory + at);
    const Buffer buffer{all.memory + at, each, rank, header.thread, nullptr};
    const std::uint32_t state = state_of(buffer);
    if ((state != LocalBufferHeader::kInMemory && state != LocalBufferHeader::kLeft) ||
        memcmp(header.magic, LocalBufferHeader::kMagic, sizeof header.magic) != 0 ||
        header.start != kBufferRecordsAt || header.capacity > each - kBufferRecordsAt) {
      continue;
    }
    LastRecords last(header);
    if (state == LocalBufferHeader::kInMemory) put_last(buffer.memory, header, last);
    save_and_tell(buffer, [&] {
      const int error =
          save_trace(kFolder, FileName(buffer, "elg").text, FileName(buffer, "new").text,
                     buffer.memory, last.records(), last.size());
      return error == EEXIST ? 0 : error;
    });
  }
}

// The small ones first: whoever waits for the others then finds all.
void save_all() {
  for (const Buffer* all = shared_buffers; all != nullptr; all = all->next) save_shared(*all);
  for (const Buffer* buffer = buffers; buffer != nullptr; buffer = buffer->next) {
    const auto& header = *reinterpret_cast<const LocalBufferHeader*>(buffer->memory);
    if (state_of(*buffer) != LocalBufferHeader::kInMemory ||
        memcmp(header.magic, LocalBufferHeader::kMagic, sizeof header.magic) != 0) {
      continue;
    }
    save_and_tell(*buffer, [&] { return save(*buffer, header); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 1;
  const auto process = static_cast<std::uint32_t>(strtoul(argv[1], nullptr, 10));
  rank = static_cast<std::uint32_t>(strtoul(argv[2], nullptr, 10));
  folder_name = argv[3];
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

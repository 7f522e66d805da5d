#include "epilog/runtime/keeper.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "epilog/runtime/keeper_request.h"
#include "epilog/runtime/run_file.h"
#include "epilog/runtime/session.h"

// Between clone and exec two processes share memory: nothing may be noted about either.
#if defined(__SANITIZE_THREAD__)
#define KOJAK_UNWATCHED __attribute__((no_sanitize("thread")))
#else
#define KOJAK_UNWATCHED
#endif

namespace kojak::measure {
namespace {

constexpr std::size_t kStack = 64 * 1024;   // of each of the two processes that share our memory
constexpr int kFirstGiven = 3, kGiven = 4;  // descriptors of elg_keep beside 0 to 2
constexpr unsigned kFirstOther = kFirstGiven + kGiven;
constexpr timeval kPatience = {60, 0};  // with a keeper that writes in our place

struct Start {
  const char* path;
  char* arguments[5];
  char* environment[1];
  int given[kGiven];  // socket, process, folder, the run's file; -1: there is none
  std::byte* stack_end;
  volatile int keeper = 0;
  volatile int error = 0;
};

int the_keeper = 0;
sockaddr_un address;
socklen_t address_length = 0;

bool is_program(const char* path) {
  return access(path, X_OK) == 0;
}

// Beside this library, or beside the directory of an MPI's own; then where it was installed.
bool find_program(char* path, std::size_t size) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&start_keeper), &info) != 0 &&
      info.dli_fname != nullptr) {
    char place[PATH_MAX];
    if (realpath(info.dli_fname, place) != nullptr) {
      for (int up = 0; up < 2; ++up) {
        char* const slash = strrchr(place, '/');
        if (slash == nullptr) break;
        *slash = '\0';
        snprintf(path, size, "%s/elg_keep", place);
        if (is_program(path)) return true;
      }
    }
  }
  snprintf(path, size, "%s", KOJAK_KEEPER);
  return is_program(path);
}

// clone(), by the kernel: sanitizers put a function of their own in place of the C library's, which
// takes the new process for a copy of this one and notes so, in the memory that both share.
KOJAK_UNWATCHED int clone_process(int (*run)(void*), std::byte* stack_end, void* argument) {
  constexpr long kFlags = CLONE_VM | CLONE_VFORK;  // no signal when it ends
#if defined(__x86_64__)
  long result = SYS_clone;
  register long other10 __asm__("r10") = 0;  // addresses that these flags do not use
  register long other8 __asm__("r8") = 0;
  register auto function __asm__("r12") = run;
  register void* value __asm__("r13") = argument;
  __asm__ volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(kFlags), "S"(stack_end), "d"(0L), "r"(other10), "r"(other8), "r"(function), "r"(value)
      : "rcx", "r11", "memory", "cc");
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
#else
  return clone(run, stack_end, kFlags, argument);
#endif
}

// Those that are given, whatever is there now: this process has a table of its own.
KOJAK_UNWATCHED void arrange_descriptors(const Start& start) {
  long given[kGiven];
  for (int i = 0; i < kGiven; ++i) {
    given[i] = start.given[i] < 0 ? -1 : syscall(SYS_fcntl, start.given[i], F_DUPFD, kFirstOther);
  }
  const long nothing = syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
  for (int fd = 0; fd < 3 && nothing >= 0; ++fd) syscall(SYS_dup3, nothing, fd, 0);
  for (int i = 0; i < kGiven; ++i) {
    if (given[i] >= 0) {
      syscall(SYS_dup3, given[i], kFirstGiven + i, 0);
    } else {
      syscall(SYS_close, kFirstGiven + i);
    }
  }
#ifdef SYS_close_range
  if (syscall(SYS_close_range, kFirstOther, ~0u, 0) == 0) return;
#endif
  const long most = sysconf(_SC_OPEN_MAX);  // kernels before 5.9
  for (long fd = kFirstOther; fd < (most < 65536 ? most : 65536); ++fd) syscall(SYS_close, fd);
}

KOJAK_UNWATCHED int run_keeper(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  syscall(SYS_setsid);
  arrange_descriptors(start);
  syscall(SYS_chdir, "/");
  syscall(SYS_execve, start.path, start.arguments, start.environment);
  start.error = errno;
  syscall(SYS_exit_group, 127);
  return 0;
}

// The process between us and elg_keep, which it leaves an orphan.
KOJAK_UNWATCHED int run_between(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  start.keeper = clone_process(run_keeper, start.stack_end, argument);
  if (start.keeper < 0) start.error = errno;
  syscall(SYS_exit_group, 0);
  return 0;
}

// Runs both with every signal blocked: a handler of the program must not run in them.
KOJAK_UNWATCHED int start_program(Start& start) {
  void* const stacks = mmap(nullptr, 2 * kStack, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stacks == MAP_FAILED) return errno;
  auto* const end = static_cast<std::byte*>(stacks) + 2 * kStack;
  start.stack_end = end - kStack;
  const std::uint64_t all = ~std::uint64_t{0};
  std::uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  const int between = clone_process(run_between, end, &start);
  if (between < 0) {
    start.error = errno;
  } else {
    while (waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  munmap(stacks, 2 * kStack);
  return start.error;
}

// A socket that waits for us, under a name that the kernel chooses.
int listening_socket() {
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  address.sun_family = AF_UNIX;
  address_length = sizeof address;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address.sun_family) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &address_length) == 0 &&
      listen(fd, 1024) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// A connection on which one request can be sent, or -1.
int connection_to_keeper() {
  if (the_keeper == 0) return -1;
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval patience = {2, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ucred listener{};
  socklen_t length = sizeof listener;
  // Whoever called listen() on that name is we ourselves, or it is not ours any more.
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), address_length) == 0 &&
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &length) == 0 &&
      listener.pid == getpid()) {
    return fd;
  }
  close(fd);
  return -1;
}

bool hand_over(int memory, KeeperRequest request) {
  const int fd = connection_to_keeper();
  if (fd < 0) return false;
  iovec part = {&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &memory, sizeof memory);
  const bool sent = sendmsg(fd, &message, MSG_NOSIGNAL) == sizeof request;
  close(fd);  // elg_keep takes it when it comes to it
  return sent;
}

// Waits for the answer.
int ask_keeper(KeeperRequest::Kind kind, BufferOwner owner, const char* more = nullptr,
               std::size_t length = 0) {
  const int fd = connection_to_keeper();
  if (fd < 0) return kNoKeeper;
  KeeperRequest request = {kind, owner.rank, owner.thread};
  iovec parts[2] = {{&request, sizeof request}, {const_cast<char*>(more), length}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = more != nullptr ? 2 : 1;
  std::int32_t answer = 0;
  int error = 0;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0) {
    error = errno;
  } else {
    ssize_t got;
    while ((got = recv(fd, &answer, sizeof answer, 0)) < 0 && errno == EINTR) {
    }
    error = got == sizeof answer ? answer : kNoKeeper;
  }
  close(fd);
  return error;
}

int shared_memory(std::size_t size) {
  const auto fd =
      static_cast<int>(syscall(SYS_memfd_create, "elg", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd < 0) return -1;
  // All of it now: a page that could not be had later would be a SIGBUS.
  int error = 0;
  while (fallocate(fd, 0, 0, static_cast<off_t>(size)) != 0 && (error = errno) == EINTR) error = 0;
  if (error == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    return fd;
  close(fd);
  return -1;
}

}  // namespace

const char* start_keeper() {
  the_keeper = 0;
  // Orphans come to these: there it would be a child after all.
  int takes_orphans = 0;
  if (getpid() == 1) return "the program is process 1";
  if (prctl(PR_GET_CHILD_SUBREAPER, &takes_orphans) == 0 && takes_orphans != 0) {
    return "the program takes on the children of its children";
  }
  static char path[PATH_MAX + 16];
  if (!find_program(path, sizeof path)) return "the program elg_keep is not beside the library";
  Start start{};
  char number[16];
  snprintf(number, sizeof number, "%d", static_cast<int>(getpid()));
  start.path = path;
  start.arguments[0] = path;
  start.arguments[1] = number;
  char rank[16];
  snprintf(rank, sizeof rank, "%u", the_session.run.rank);
  start.arguments[2] = rank;
  start.arguments[3] = the_session.directory;
  auto& [socket, process, folder, file] = start.given;
  socket = listening_socket();
  if (socket < 0) return strerror(errno);
  process = file = -1;
#ifdef SYS_pidfd_open
  process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
#endif
  folder = open(the_session.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const char* const told_in = run_file();
  if (told_in != nullptr) file = open(told_in, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  const int error = start_program(start);
  for (const int fd : start.given) {
    if (fd >= 0) close(fd);
  }
  if (error != 0) return strerror(error);
  the_keeper = start.keeper;
  return nullptr;
}

unsigned keeper_process() {
  return static_cast<unsigned>(the_keeper);
}

namespace {

BufferMemory new_memory(std::size_t size, KeeperRequest request) {
  const int fd = the_keeper != 0 ? shared_memory(size) : -1;
  if (fd >= 0) {
    void* const data =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    const bool kept = data != MAP_FAILED && hand_over(fd, request);
    close(fd);
    if (data != MAP_FAILED) return {static_cast<std::byte*>(data), kept};
  }
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return {data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data), false};
}

}  // namespace

BufferMemory new_buffer(std::size_t size, BufferOwner owner) {
  return new_memory(size, {KeeperRequest::kTake, owner.rank, owner.thread});
}

BufferMemory new_buffers(std::size_t size, std::size_t each) {
  return new_memory(size, {KeeperRequest::kTakeMany, 0, static_cast<std::uint32_t>(each)});
}

int keeper_makes_files(BufferOwner owner) {
  return ask_keeper(KeeperRequest::kMake, owner);
}

int keeper_writes_out(BufferOwner owner) {
  return ask_keeper(KeeperRequest::kWrite, owner);
}

bool keeper_tells(const char* line, std::size_t length) {
  return ask_keeper(KeeperRequest::kTell, {}, line, length) == 0;
}

}  // namespace kojak::measure

#include "tools/kojak/child.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

extern char** environ;  // NOLINT: named by POSIX

namespace kojak::run {
namespace {

volatile sig_atomic_t the_child = 0;

void pass_on(int signal) {
  if (the_child != 0) ::kill(static_cast<pid_t>(the_child), signal);
}

// Sets handlers for the time of a child.
class Signals {
 public:
  Signals() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction forward {};
    forward.sa_handler = pass_on;
    forward.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &ignore, &old_[0]);
    ::sigaction(SIGQUIT, &ignore, &old_[1]);
    ::sigaction(SIGTERM, &forward, &old_[2]);
    ::sigaction(SIGHUP, &forward, &old_[3]);
  }
  ~Signals() {
    ::sigaction(SIGINT, &old_[0], nullptr);
    ::sigaction(SIGQUIT, &old_[1], nullptr);
    ::sigaction(SIGTERM, &old_[2], nullptr);
    ::sigaction(SIGHUP, &old_[3], nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The child starts with what we had: a shell may have us ignore interrupts in the background.
  void give_defaults(posix_spawnattr_t& attributes) const {
    sigset_t defaults;
    sigemptyset(&defaults);
    if (old_[0].sa_handler != SIG_IGN) sigaddset(&defaults, SIGINT);
    if (old_[1].sa_handler != SIG_IGN) sigaddset(&defaults, SIGQUIT);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  }

 private:
  struct sigaction old_[4];
};

std::string name_of(const std::string& setting) {
  return setting.substr(0, setting.find('=') + 1);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, const ChildOptions& options) {
  std::vector<char*> words, environment;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  for (char** setting = environ; *setting != nullptr; ++setting) {
    bool replaced = false;
    for (const std::string& ours : options.environment) {
      const std::string name = name_of(ours);
      replaced = replaced || std::strncmp(*setting, name.c_str(), name.size()) == 0;
    }
    if (!replaced) environment.push_back(*setting);
  }
  for (const std::string& ours : options.environment) {
    environment.push_back(const_cast<char*>(ours.c_str()));
  }
  environment.push_back(nullptr);

  const Signals signals;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (options.stdout_to_stderr) {
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  if (options.both_to >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, options.both_to, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, options.both_to, STDERR_FILENO);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  signals.give_defaults(attributes);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return {error == ENOENT ? 127 : 126, 0, command[0] + ": " + std::strerror(error)};
  }
  the_child = pid;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  the_child = 0;
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status), ""};
  return {WEXITSTATUS(status), 0, ""};
}

}  // namespace kojak::run

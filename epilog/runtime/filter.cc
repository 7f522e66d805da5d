#include "epilog/runtime/filter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "epilog/runtime/session.h"
#include "epilog/runtime/symbols.h"

namespace kojak::measure {
namespace {

struct Rule {
  const char* pattern;
  bool include;
};
Vector<Rule> rules;
constexpr std::size_t kMostBytes = 1u << 20;

// The first fault of the file is named, with the number of the others.
struct Fault {
  unsigned line = 0;  // 0: all of it
  const char* reason = nullptr;
  unsigned others = 0;
} fault;

void complain(unsigned line, const char* reason) {
  if (fault.reason != nullptr) {
    ++fault.others;
  } else {
    fault = {line, reason, 0};
  }
}

void say_fault(const char* path) {
  if (fault.reason == nullptr || the_session.run.rank != 0) return;
  if (fault.line == 0) return say("ELG_FILTER: %s: %s", path, fault.reason);
  char more[64] = "";
  if (fault.others != 0) snprintf(more, sizeof more, ", and %u other lines", fault.others);
  say("ELG_FILTER: %s:%u: %s; the line is ignored%s", path, fault.line, fault.reason, more);
}

// The text stays in memory: the patterns point into it.
char* read_text(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  char* const text = static_cast<char*>(allocate(kMostBytes + 1));
  std::size_t size = 0;
  ssize_t got = 1;
  while (text != nullptr && size < kMostBytes && got > 0) {
    got = read(fd, text + size, kMostBytes - size);
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  if (text != nullptr && size == kMostBytes && read(fd, &text[kMostBytes], 1) == 1) {
    text[kMostBytes] = '\0';
    complain(0, "only its first megabyte is read");
  }
  const int error = errno;
  close(fd);
  errno = error;
  return got < 0 ? nullptr : text;
}

// The next word of a line; cuts it out.
char* word(char*& rest) {
  rest += strspn(rest, " \t\r");
  if (*rest == '\0' || *rest == '#') return nullptr;
  char* const begin = rest;
  rest += strcspn(rest, " \t\r");
  if (*rest != '\0') *rest++ = '\0';
  return begin;
}

void read_line(unsigned number, char* line) {
  const char* const verb = word(line);
  if (verb == nullptr) return;
  const bool include = strcmp(verb, "include") == 0;
  if (!include && strcmp(verb, "exclude") != 0) {
    return complain(number, "a line begins with include or exclude");
  }
  line += strspn(line, " \t");
  // The rest is one pattern: readable C++ names hold blanks.
  std::size_t length = strlen(line);
  while (length != 0 && strchr(" \t\r", line[length - 1]) != nullptr) line[--length] = '\0';
  if (length == 0) return complain(number, "no pattern");
  rules.push_back({line, include});
}

const Rule* first_rule(const char* name) {
  for (const Rule& rule : rules) {
    if (fnmatch(rule.pattern, name, 0) == 0) return &rule;
  }
  return nullptr;
}

// Writes a symbol as C++ spells it, if the program has C++'s library.
bool readable(const char* symbol, char* to, std::size_t size) {
  if (strncmp(symbol, "_Z", 2) != 0) return false;
  using Demangle = char*(const char*, char*, std::size_t*, int*);
  static Demangle* const demangle =
      reinterpret_cast<Demangle*>(dlsym(RTLD_DEFAULT, "__cxa_demangle"));
  if (demangle == nullptr) return false;
  char* const name = demangle(symbol, nullptr, nullptr, nullptr);
  if (name == nullptr) return false;
  strncpy(to, name, size - 1);
  to[size - 1] = '\0';
  free(name);
  return true;
}

}  // namespace

void read_filter(const char* path) {
  char* text = read_text(path);
  if (text == nullptr) {
    static char reason[256];
    snprintf(reason, sizeof reason, "%s; nothing is filtered", strerror(errno));
    complain(0, reason);
  }
  for (unsigned number = 1; text != nullptr && *text != '\0'; ++number) {
    char* const line = text;
    text += strcspn(text, "\n");
    if (*text != '\0') *text++ = '\0';
    read_line(number, line);
  }
  say_fault(path);
}

bool name_passes(const char* name) {
  const Rule* const rule = first_rule(name);
  return rule == nullptr || rule->include;
}

bool function_passes(const void* function) {
  if (rules.empty()) return true;
  char symbol[1024];
  symbol_of(function, symbol, sizeof symbol);
  char name[1024];
  const Rule* const by_symbol = first_rule(symbol);
  const Rule* const by_name = readable(symbol, name, sizeof name) ? first_rule(name) : nullptr;
  const Rule* rule = by_symbol != nullptr ? by_symbol : by_name;
  if (by_symbol != nullptr && by_name != nullptr && by_name < by_symbol) rule = by_name;
  return rule == nullptr || rule->include;
}

}  // namespace kojak::measure

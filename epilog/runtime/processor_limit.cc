#include "epilog/runtime/processor_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "epilog/format/run_property_keys.h"
#include "epilog/runtime/local_trace.h"
#include "epilog/runtime/program_floats.h"
#include "epilog/runtime/run_properties.h"

namespace kojak::measure {
namespace {

constexpr const char* kMounted = "/sys/fs/cgroup";

struct Stops {
  unsigned long long times = 0;
  double seconds = 0;
};

struct LimitedGroup {
  bool second;            // version 2
  char folder[512];       // empty: nothing is limited
  std::size_t name_at;    // where the group's name begins in it
  double processors = 0;  // that it may use
  Stops at_start;
};
constinit LimitedGroup the_group{};

bool read_file(const char* folder, const char* name, char* to, std::size_t size) {
  char path[600];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= static_cast<int>(sizeof path)) {
    return false;
  }
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = read(fd, to, size - 1);
  close(fd);
  to[got > 0 ? got : 0] = '\0';
  return got > 0;
}

// The number behind a word that begins a line; false if it is not there.
bool number_behind(const char* text, const char* word, unsigned long long& number) {
  const std::size_t length = strlen(word);
  for (const char* line = text; line != nullptr && *line != '\0';) {
    if (strncmp(line, word, length) == 0 && line[length] == ' ') {
      number = strtoull(line + length, nullptr, 10);
      return true;
    }
    line = strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return false;
}

bool read_stops(const char* folder, bool second, Stops& stops) {
  char text[1024];
  unsigned long long time = 0;
  if (!read_file(folder, "cpu.stat", text, sizeof text) ||
      !number_behind(text, "nr_throttled", stops.times) ||
      !number_behind(text, second ? "throttled_usec" : "throttled_time", time)) {
    return false;
  }
  stops.seconds = static_cast<double>(time) * (second ? 1e-6 : 1e-9);
  return true;
}

// How many processors one group allows; 0: as many as there are.
double limit_of(const char* folder, bool second) {
  char text[64], period_text[64];
  char* end = nullptr;
  double quota = 0, period = 0;
  if (second) {
    if (!read_file(folder, "cpu.max", text, sizeof text)) return 0;
    quota = strtod(text, &end);  // "max" is no number
    period = end == text ? 0 : strtod(end, nullptr);
  } else {
    if (!read_file(folder, "cpu.cfs_quota_us", text, sizeof text) ||
        !read_file(folder, "cpu.cfs_period_us", period_text, sizeof period_text)) {
      return 0;
    }
    quota = strtod(text, nullptr);  // -1: none
    period = strtod(period_text, nullptr);
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

// The tightest limit from the group up; the folder is cut on the way.
void look_at(char* folder, std::size_t mount, bool second) {
  for (;;) {
    const double processors = limit_of(folder, second);
    Stops stops;
    if (processors > 0 && (the_group.folder[0] == '\0' || processors < the_group.processors) &&
        read_stops(folder, second, stops)) {
      the_group = {second, "", mount, processors, stops};
      snprintf(the_group.folder, sizeof the_group.folder, "%s", folder);
    }
    char* const slash = strrchr(folder, '/');
    if (slash == nullptr || static_cast<std::size_t>(slash - folder) < mount) return;
    *slash = '\0';
  }
}

// Each line is "number:controllers:name"; version 2 has number 0 and no controllers.
void find_group() {
  the_group = {};
  char lines[4096];
  if (!read_file("/proc/self", "cgroup", lines, sizeof lines)) return;
  char* rest = lines;
  while (char* const line = strsep(&rest, "\n")) {
    char* at = line;
    (void)strsep(&at, ":");
    const char* const controllers = strsep(&at, ":");
    if (at == nullptr) continue;
    const bool second = *controllers == '\0';
    bool counts = second;
    for (const char* c = controllers; *c != '\0';) {
      const std::size_t length = strcspn(c, ",");
      counts = counts || (length == 3 && strncmp(c, "cpu", 3) == 0);
      c += length + (c[length] == ',' ? 1 : 0);
    }
    if (!counts) continue;
    char folder[sizeof the_group.folder];
    const int mount =
        snprintf(folder, sizeof folder, "%s%s%s", kMounted, second ? "" : "/", controllers);
    const char* const name = strcmp(at, "/") == 0 ? "" : at;
    const std::size_t length = strlen(name);
    if (static_cast<std::size_t>(mount) + length >= sizeof folder) continue;
    memcpy(folder + mount, name, length + 1);
    look_at(folder, static_cast<std::size_t>(mount), second);
  }
}

}  // namespace

void define_processor_limit(Recorder& r) {
  const int error = errno;
  const ProgramFloats floats;
  find_group();
  if (the_group.folder[0] != '\0') {
    const char* const name = the_group.folder + the_group.name_at;
    char text[kMostText + 1];
    snprintf(text, sizeof text, "%.3g %s", the_group.processors, *name == '\0' ? "/" : name);
    define_property(r, run_property::kProcessorLimit, text);
  }
  errno = error;
}

void define_processor_stops(Recorder& r) {
  const int error = errno;
  Stops now;
  if (the_group.folder[0] != '\0' && read_stops(the_group.folder, the_group.second, now)) {
    char text[64];
    snprintf(text, sizeof text, "%llu times, %.6f s", now.times - the_group.at_start.times,
             now.seconds - the_group.at_start.seconds);
    define_property(r, run_property::kProcessorStops, text);
  }
  errno = error;
}

}  // namespace kojak::measure

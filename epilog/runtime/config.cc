#include "epilog/runtime/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

#include "epilog/format/mpi_functions.h"
#include "epilog/runtime/program_floats.h"

namespace kojak::measure {
namespace {

constexpr std::size_t kSmallestBuffer = 64 * 1024;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool parse_size(const char* text, std::uint64_t least, std::uint64_t& size) {
  if (!is_digit(*text)) return false;
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  unsigned shift = 0;
  if (*end == 'K' || *end == 'k') shift = 10;
  if (*end == 'M' || *end == 'm') shift = 20;
  if (*end == 'G' || *end == 'g') shift = 30;
  if (*end == 'T' || *end == 't') shift = 40;
  if (shift != 0) ++end;
  if (*end != '\0' || number > (1ull << 60) >> shift || number << shift < least) return false;
  size = number << shift;
  return true;
}

bool parse_buffer_size(const char* text, std::size_t& size) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  std::uint64_t bytes = 0;
  if (!parse_size(text, kSmallestBuffer, bytes) || bytes > kMost) return false;
  size = static_cast<std::size_t>(bytes);
  return true;
}

bool parse_families(const char* text, std::uint32_t& functions) {
  std::uint32_t chosen = 0;
  for (;;) {
    const std::size_t length = std::strcspn(text, ",");
    bool known = false;
    if (length == 3 && std::strncmp(text, "all", 3) == 0) {
      chosen = ~0u;
      known = true;
    }
    for (unsigned family = 0; family < kMpiFamilyNames.size(); ++family) {
      if (kMpiFamilyNames[family] == std::string_view(text, length)) {
        chosen |= carries_time(family) | carries_none(family);
        known = true;
      }
    }
    if (!known) return false;
    text += length;
    if (*text++ == '\0') break;
  }
  functions = chosen;
  return true;
}

bool parse_call_sites(const char* text, unsigned& depth) {
  if (std::strcmp(text, "off") == 0) return depth = 0, true;
  if (std::strcmp(text, "site") == 0) return depth = 1, true;
  if (std::strncmp(text, "path:", 5) != 0) return false;
  if (!is_digit(text[5])) return false;
  char* end = nullptr;
  const unsigned long callers = std::strtoul(text + 5, &end, 10);
  if (*end != '\0' || callers == 0 || callers > kMostCallers) return false;
  depth = static_cast<unsigned>(callers);
  return true;
}

bool parse_interval(const char* text, std::uint64_t& nanoseconds) {
  if (!is_digit(*text)) return false;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text, &end, 10);
  std::uint64_t unit = 0;
  if (std::strcmp(end, "us") == 0) unit = 1'000;
  if (std::strcmp(end, "ms") == 0) unit = 1'000'000;
  if (std::strcmp(end, "s") == 0) unit = 1'000'000'000;
  constexpr std::uint64_t kLeast = 1'000'000, kMost = 10'000'000'000;
  if (unit == 0 || number > kMost / unit || number * unit < kLeast) return false;
  nanoseconds = number * unit;
  return true;
}

bool parse_switch(const char* text, bool& value) {
  if ((text[0] != '0' && text[0] != '1') || text[1] != '\0') return false;
  value = text[0] == '1';
  return true;
}

bool parse_polls(const char* text, PollRecording& polls) {
  if (std::strcmp(text, "join") == 0) return polls = PollRecording::kJoin, true;
  if (std::strcmp(text, "all") == 0) return polls = PollRecording::kAll, true;
  if (std::strcmp(text, "off") == 0) return polls = PollRecording::kOff, true;
  return false;
}

bool parse_test_clock(const char* text, Config& config) {
  if (!is_digit(*text)) return false;
  char* end = nullptr;
  const long rank = std::strtol(text, &end, 10);
  if (*end != ':' || rank > std::numeric_limits<int>::max()) return false;
  const char* shift_text = end + 1;
  const double shift = std::strtod(shift_text, &end);
  if (end == shift_text || *end != ':') return false;
  const char* ppm_text = end + 1;
  const double ppm = std::strtod(ppm_text, &end);
  if (end == ppm_text || *end != '\0') return false;
  if (!std::isfinite(shift) || !std::isfinite(ppm)) return false;
  config.test_clock_rank = static_cast<int>(rank);
  config.test_clock_shift = shift;
  config.test_clock_ppm = ppm;
  return true;
}

bool parse_test_ids(const char* text, Config& config) {
  if (!is_digit(*text)) return false;
  char* end = nullptr;
  const unsigned long first = std::strtoul(text, &end, 10);
  if (*end != '\0' || first > std::numeric_limits<std::uint32_t>::max()) return false;
  config.test_ids = static_cast<std::uint32_t>(first);
  return true;
}

struct Setting {
  const char* name;
  const char* standard;  // null: the measurement does not read it
  const char* values;
};
constexpr Setting kSettings[] = {
#define KOJAK_SETTING(NAME, standard, values, doc) {#NAME, standard, values},
#include "epilog/runtime/config_table.def"
#undef KOJAK_SETTING
    {"ELG_VT_MODE", nullptr, nullptr},  // elg_merge reads it
};

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// How many letters must be put in, left out or replaced to make one name of the other, whatever
// their case.
unsigned distance(const char* a, std::size_t length, const char* b) {
  constexpr std::size_t kMost = 40;
  const std::size_t width = std::strlen(b);
  if (length > kMost || width > kMost) return kMost;
  unsigned row[kMost + 1];
  for (std::size_t j = 0; j <= width; ++j) row[j] = static_cast<unsigned>(j);
  for (std::size_t i = 0; i < length; ++i) {
    unsigned diagonal = row[0]++;
    for (std::size_t j = 0; j < width; ++j) {
      const unsigned replaced = diagonal + (upper(a[i]) == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row[width];
}

// Names that look like settings and are none.
void check_names(Config& config) {
  for (char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* const name = *entry;
    const std::size_t length = std::strcspn(name, "=");
    if (length < 4 || upper(name[0]) != 'E' || upper(name[1]) != 'L' || upper(name[2]) != 'G' ||
        name[3] != '_') {
      continue;
    }
    const Setting* nearest = nullptr;
    unsigned best = ~0u;
    bool known = false, begun = false;  // the nearest one's name begins with this
    for (const Setting& setting : kSettings) {
      known = known || std::string_view(name, length) == setting.name;
      const unsigned apart = distance(name, length, setting.name);
      const bool begins = length > 5 && std::strncmp(name, setting.name, length) == 0;
      if (begins > begun || (begins == begun && apart < best)) {
        best = apart;
        nearest = &setting;
        begun = begins;
      }
    }
    // In other letters a name may be somebody else's, unless it differs in nothing but them.
    const bool ours = std::strncmp(name, "ELG_", 4) == 0 || best == 0;
    if (known || !ours) continue;
    const int shown = length < 60 ? static_cast<int>(length) : 60;
    if (best <= 3 || begun) {
      complain(config, "%.*s is no setting: did you mean %s?", shown, name, nearest->name);
    } else {
      complain(config, "%.*s is no setting (elg_config --settings lists them)", shown, name);
    }
  }
}

}  // namespace

std::uint8_t families_off(const Config& config) {
  std::uint8_t off = 0;
  for (unsigned family = 0; family < kMpiFamilyNames.size(); ++family) {
    if ((config.functions & carries_time(family)) == 0)
      off |= static_cast<std::uint8_t>(1u << family);
  }
  return off;
}

void complain(Config& config, const char* format, ...) {
  std::size_t used = std::strlen(config.complaints);
  const auto left = [&] { return sizeof config.complaints - used; };
  if (used != 0) used += static_cast<std::size_t>(snprintf(config.complaints + used, left(), "; "));
  if (used + 1 >= sizeof config.complaints) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(config.complaints + used, left(), format, arguments);
  va_end(arguments);
}

Config read_config() {
  const ProgramFloats floats;
  Config config;
  const auto setting = [&config](const char* name, auto&& parse) {
    const char* text = secure_getenv(name);  // not for who runs another user's program
    if (text == nullptr || *text == '\0' || parse(text)) return;
    for (const Setting& s : kSettings) {
      if (std::strcmp(s.name, name) != 0) continue;
      const bool standard = *s.standard != '\0';
      complain(config, "%s=%.60s is not understood (%s), %s%s%s used", name, text, s.values,
               standard ? "its default, " : "it is not", s.standard, standard ? ", is" : "");
    }
  };
  setting("ELG_DIR", [&](const char* text) { return config.directory = text, true; });
  setting("ELG_BUFFER_SIZE",
          [&](const char* text) { return parse_buffer_size(text, config.buffer_size); });
  setting("ELG_MAX_SIZE",
          [&](const char* text) { return parse_size(text, kLeastTotal, config.max_size); });
  setting("ELG_MPI", [&](const char* text) { return parse_families(text, config.functions); });
  setting("ELG_CALLSITES",
          [&](const char* text) { return parse_call_sites(text, config.call_path); });
  setting("ELG_LIBRARIES", [&](const char* text) { return config.libraries = text, true; });
  setting("ELG_FILTER", [&](const char* text) { return config.filter = text, true; });
  setting("ELG_SAMPLE", [&](const char* text) { return parse_interval(text, config.sample); });
  setting("ELG_METRICS", [&](const char* text) { return config.metrics = text, true; });
  setting("ELG_PAPI", [&](const char* text) { return config.papi = text, true; });
  setting("ELG_RECORD", [&](const char* text) { return parse_switch(text, config.record); });
  setting("ELG_POLLS", [&](const char* text) { return parse_polls(text, config.polls); });
  setting("ELG_OPENMP", [&](const char* text) { return parse_switch(text, config.openmp); });
  setting("ELG_KEEP", [&](const char* text) { return parse_switch(text, config.keep); });
  setting("ELG_VERBOSE", [&](const char* text) { return parse_switch(text, config.verbose); });
  setting("ELG_TEST_IDS", [&](const char* text) { return parse_test_ids(text, config); });
  setting("ELG_TEST_CLOCK", [&](const char* text) { return parse_test_clock(text, config); });
  // What is written at a flush must fit twice at least.
  if (config.max_size != 0 && config.buffer_size > config.max_size / 4) {
    config.buffer_size = static_cast<std::size_t>(config.max_size / 4);
  }
  check_names(config);
  return config;
}

}  // namespace kojak::measure

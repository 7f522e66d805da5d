#include "epilog/runtime/config.h"

#include <cstdlib>
#include <cstring>

#include "epilog/format/mpi_functions.h"

namespace kojak::measure {
namespace {

constexpr std::size_t kSmallestBuffer = 64 * 1024;

bool parse_size(const char* text, std::size_t& size) {
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text, &end, 10);
  unsigned shift = 0;
  if (*end == 'K' || *end == 'k') shift = 10;
  if (*end == 'M' || *end == 'm') shift = 20;
  if (*end == 'G' || *end == 'g') shift = 30;
  if (shift != 0) ++end;
  if (end == text || *end != '\0' || number == 0 || number > (1ull << 40) >> shift) return false;
  size = static_cast<std::size_t>(number << shift);
  if (size < kSmallestBuffer) size = kSmallestBuffer;
  return true;
}

bool parse_families(const char* text, std::uint32_t& functions) {
  std::uint32_t chosen = 0;
  while (*text != '\0') {
    const std::size_t length = std::strcspn(text, ",");
    bool known = length == 0;
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
    if (*text == ',') ++text;
  }
  functions = chosen;
  return true;
}

bool parse_call_sites(const char* text, unsigned& depth) {
  if (std::strcmp(text, "off") == 0) return depth = 0, true;
  if (std::strcmp(text, "site") == 0) return depth = 1, true;
  if (std::strncmp(text, "path:", 5) != 0) return false;
  char* end = nullptr;
  const unsigned long callers = std::strtoul(text + 5, &end, 10);
  if (end == text + 5 || *end != '\0' || text[5] == '-' || callers == 0) return false;
  depth = callers < kMostCallers ? static_cast<unsigned>(callers) : kMostCallers;
  return true;
}

bool parse_switch(const char* text, bool& value) {
  if ((text[0] != '0' && text[0] != '1') || text[1] != '\0') return false;
  value = text[0] == '1';
  return true;
}

bool parse_test_clock(const char* text, Config& config) {
  char* end = nullptr;
  const long rank = std::strtol(text, &end, 10);
  if (end == text || *end != ':') return false;
  const char* shift_text = end + 1;
  const double shift = std::strtod(shift_text, &end);
  if (end == shift_text || *end != ':') return false;
  const char* ppm_text = end + 1;
  const double ppm = std::strtod(ppm_text, &end);
  if (end == ppm_text || *end != '\0') return false;
  config.test_clock_rank = static_cast<int>(rank);
  config.test_clock_shift = shift;
  config.test_clock_ppm = ppm;
  return true;
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

Config read_config() {
  Config config;
  const auto setting = [&config](const char* name, auto&& parse) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return;
    if (!parse(text) && config.complaint == nullptr) config.complaint = name;
  };
  setting("ELG_DIR", [&](const char* text) { return config.directory = text, true; });
  setting("ELG_BUFFER_SIZE",
          [&](const char* text) { return parse_size(text, config.buffer_size); });
  setting("ELG_MPI", [&](const char* text) { return parse_families(text, config.functions); });
  setting("ELG_CALLSITES",
          [&](const char* text) { return parse_call_sites(text, config.call_path); });
  setting("ELG_FILTER", [&](const char* text) { return config.filter = text, true; });
  setting("ELG_RECORD", [&](const char* text) { return parse_switch(text, config.record); });
  setting("ELG_VERBOSE", [&](const char* text) { return parse_switch(text, config.verbose); });
  setting("ELG_TEST_CLOCK", [&](const char* text) { return parse_test_clock(text, config); });
  return config;
}

}  // namespace kojak::measure

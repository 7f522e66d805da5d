#include "epilog/format/mpi_functions.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace kojak {
namespace {

#include "epilog/format/mpi_functions.inc"

// ASCII only: MPI's names have no other letters, and the C library's functions depend on the
// locale.
constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr int compare_lower(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    const char x = lower(a[i]), y = lower(b[i]);
    if (x != y) return x < y ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : (a.size() < b.size() ? -1 : 1);
}

constexpr bool all_lower(std::string_view s) {
  return std::none_of(s.begin(), s.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}
constexpr bool all_upper(std::string_view s) {
  return std::none_of(s.begin(), s.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

std::span<const MpiFunction> mpi_functions() {
  return kFunctions;
}

const MpiFunction* find_mpi_function(std::string_view region_name) {
  std::string_view name = region_name;
  while (name.ends_with('_')) name.remove_suffix(1);
  const auto* const end = std::end(kByLowerCase);
  const auto* const found = std::lower_bound(
      std::begin(kByLowerCase), end, name,
      [](std::uint16_t i, std::string_view n) { return compare_lower(kFunctions[i].name, n) < 0; });
  if (found == end) return nullptr;
  const MpiFunction& function = kFunctions[*found];
  if (compare_lower(function.name, name) != 0) return nullptr;
  if (region_name == function.name) return &function;
  // Fortran spellings are of one case; anything between is somebody else's function.
  return all_lower(name) || all_upper(name) ? &function : nullptr;
}

}  // namespace kojak

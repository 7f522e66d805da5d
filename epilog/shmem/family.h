// Which numbers a SHMEM library gives to what OpenSHMEM fixes by name only.
//
// Two families are known: Open MPI's and Sandia's. Of another library a comparison is recorded as
// unknown. Nothing is tried out: shmem_test with a number that the library does not have ends the
// program.
#pragma once

#include <cstdint>
#include <string_view>

namespace kojak::measure {

enum class ShmemFamily : std::uint8_t { kUnknown, kOpenMpi, kSandia };

// `text` is what shmem_info_get_name says, empty where there is none; `file` the name of the file
// that has shmem_init. The text decides where there is one: files of several libraries are called
// libsma.
constexpr ShmemFamily shmem_family(std::string_view text, std::string_view file) {
  const auto says = [text](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  if (says("Sandia")) return ShmemFamily::kSandia;
  if (says("Open MPI") || says("open-mpi")) return ShmemFamily::kOpenMpi;
  if (!text.empty()) return ShmemFamily::kUnknown;
  if (file.starts_with("liboshmem.")) return ShmemFamily::kOpenMpi;
  return file.starts_with("libsma.") ? ShmemFamily::kSandia : ShmemFamily::kUnknown;
}

// As in SHMEM_WAIT: 1 equal, 2 not equal, 3 greater, 4 greater or equal, 5 less, 6 less or equal;
// 0 for what is none, or unknown.
constexpr std::uint8_t recorded_comparison(ShmemFamily family, int cmp) {
  constexpr std::uint8_t kOpenMpi[] = {1, 2, 3, 6, 5, 4};
  if (family == ShmemFamily::kOpenMpi) return cmp >= 0 && cmp < 6 ? kOpenMpi[cmp] : 0;
  if (family == ShmemFamily::kSandia)
    return cmp >= 1 && cmp <= 6 ? static_cast<std::uint8_t>(cmp) : 0;
  return 0;
}
inline constexpr std::uint8_t kRecordedNotEqual = 2;

}  // namespace kojak::measure

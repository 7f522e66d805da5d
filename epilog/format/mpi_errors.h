// MPI's error classes as MPI_ERROR records number them: names, and what they mean.
#pragma once

#include <cstdint>
#include <string_view>

namespace kojak {

// What a failed collective call has done: looked at its arguments only, or nobody knows.
enum class MpiErrorOf : std::uint8_t { kArguments, kAnyTime };

struct MpiErrorClass {
  std::uint8_t number;
  std::string_view name;  // "MPI_ERR_RMA_SYNC"
  MpiErrorOf of;
  std::string_view meaning;
};

inline constexpr MpiErrorClass kMpiErrors[] = {
    {0, "another error class", MpiErrorOf::kAnyTime,
     "one of the MPI library's own or the program's"},
#define KOJAK_MPI_ERROR(number, NAME, of, meaning) \
  {number, "MPI_ERR_" #NAME, MpiErrorOf::of, meaning},
#include "epilog/format/mpi_errors.def"
#undef KOJAK_MPI_ERROR
};
inline constexpr std::uint8_t kMostMpiErrors = sizeof kMpiErrors / sizeof kMpiErrors[0] - 1;

// A number that is none of these is another class.
constexpr const MpiErrorClass& mpi_error(std::uint8_t number) {
  return kMpiErrors[number <= kMostMpiErrors ? number : 0];
}

}  // namespace kojak

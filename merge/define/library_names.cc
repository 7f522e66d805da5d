#include "merge/define/library_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace kojak::merge {
namespace {

struct EntryPoint {
  std::string_view name;  // behind _gfortran_caf_
  std::string_view statement;
};
// Sorted by name.
constexpr EntryPoint kCoarrays[] = {
    {"atomic_cas", "atomic_cas"},
    {"atomic_define", "atomic_define"},
    {"atomic_op", "atomic_add, _and, _or, _xor"},
    {"atomic_ref", "atomic_ref"},
    {"change_team", "change team"},
    {"co_broadcast", "co_broadcast"},
    {"co_max", "co_max"},
    {"co_min", "co_min"},
    {"co_reduce", "co_reduce"},
    {"co_sum", "co_sum"},
    {"deregister", "deallocate (coarray)"},
    {"end_team", "end team"},
    {"error_stop", "error stop"},
    {"error_stop_str", "error stop"},
    {"event_post", "event post"},
    {"event_query", "event_query"},
    {"event_wait", "event wait"},
    {"fail_image", "fail image"},
    {"failed_images", "failed_images"},
    {"finalize", "end of program (coarrays)"},
    {"form_team", "form team"},
    {"get", "coarray get"},
    {"get_by_ref", "coarray get"},
    {"get_communicator", "get_communicator"},
    {"image_status", "image_status"},
    {"init", "start of program (coarrays)"},
    {"is_contiguous", "is_contiguous (coarray)"},
    {"is_present", "allocated (coarray)"},
    {"lock", "lock, critical"},
    {"num_images", "num_images"},
    {"random_init", "random_init"},
    {"register", "allocate (coarray)"},
    {"send", "coarray put"},
    {"send_by_ref", "coarray put"},
    {"sendget", "coarray put of a get"},
    {"sendget_by_ref", "coarray put of a get"},
    {"stop_numeric", "stop"},
    {"stop_str", "stop"},
    {"stopped_images", "stopped_images"},
    {"sync_all", "sync all"},
    {"sync_images", "sync images"},
    {"sync_memory", "sync memory"},
    {"sync_team", "sync team"},
    {"team_number", "team_number"},
    {"this_image", "this_image"},
    {"unlock", "unlock, end critical"},
};

}  // namespace

std::string statement_of(const std::string& function) {
  static_assert(std::ranges::is_sorted(kCoarrays, {}, &EntryPoint::name));
  for (const std::string_view prefix : {"_gfortran_caf_", "_caf_extensions_"}) {
    if (!function.starts_with(prefix)) continue;
    const std::string_view name = std::string_view(function).substr(prefix.size());
    const auto* const found = std::ranges::lower_bound(kCoarrays, name, {}, &EntryPoint::name);
    if (found != std::end(kCoarrays) && found->name == name) return std::string(found->statement);
  }
  // The profiling interfaces of ARMCI and Global Arrays: ARMCI_Put is PARMCI_Put.
  constexpr std::pair<std::string_view, std::string_view> kProfiled[] = {
      {"PARMCI_", "ARMCI_"}, {"pnga_", "ga_"}, {"wnga_", "ga_"}};
  for (const auto& [prefix, front] : kProfiled) {
    if (function.starts_with(prefix)) return std::string(front) + function.substr(prefix.size());
  }
  // Fortran's names have a line behind them that no program writes: `ga_sync_`.
  const std::string_view name = function;
  const auto is_of_fortran = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.size() > 1 && name.ends_with('_') && !name.ends_with("__") && name.front() != '_' &&
      std::ranges::all_of(name, is_of_fortran))
    return std::string(name.substr(0, name.size() - 1));
  return function;
}

std::string statement_of(const std::string& function, const std::string& file) {
  constexpr std::pair<std::string_view, std::string_view> kInner[] = {
      {"mutex_lock", "lock"}, {"mutex_unlock", "unlock"}, {"finalize_internal", "finalize"}};
  if (file.substr(file.rfind('/') + 1).starts_with("libcaf_")) {
    for (const auto& [inner, entry] : kInner) {
      if (function == inner) return statement_of("_gfortran_caf_" + std::string(entry));
    }
  }
  return statement_of(function);
}

}  // namespace kojak::merge

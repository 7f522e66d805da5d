// ARMCI: SHMEM's branch of the tree once more, with ARMCI's names and words. The rules are the same
// ones: what SHMEM's patterns find in a call of ARMCI is counted here (as_armci() in catalogue.h).
// Source: passive-target paper 2012 (its sections 2 to 4 are about ARMCI).
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "expert/patterns/shmem/shmem.h"
#include "expert/patterns/shmem/shmem_waits.h"
#include "expert/patterns/wait_for_progress.h"

namespace kojak::expert {
namespace detail {

// The first that a text has at a place counts.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 37> kArmciWords{{
    {"shmem_team_split_strided", "ARMCI_Group_create"},
    {"Team Management", "Group Management"},
    {"Team Creation", "Group Creation"},
    {"splitting and destroying teams", "making and freeing groups"},
    {"splitting or destroying a team", "making or freeing a group"},
    {"All members of the parent team make a new one together, and end one together.",
     "All members of a group make it together, and free it together."},
    {"All members of the parent team take part in a split, so",
     "All members make a group together, so"},
    {"Destroying a team waits", "Freeing a group waits"},
    {"Make teams", "Make groups"},
    {"Time in a get or an atomic operation while",
     "Time in a get, put or atomic operation, or in the wait for one, while"},
    {"Time in quiet while", "Time in a fence or barrier while"},
    {"in gets and atomic operations", "in gets, puts and atomic operations"},
    {"shmem_barrier_all, shmem_barrier and shmem_sync", "ARMCI_Barrier and armci_msg_barrier"},
    {"shmem_barrier_all", "ARMCI_Barrier"},
    {"shmem_broadcast", "armci_msg_bcast"},
    {"shmem_collect", "armci_msg_gop"},
    {"shmem_set_lock", "ARMCI_Lock"},
    {"shmem_clear_lock", "ARMCI_Unlock"},
    {"shmem_get_nbi", "ARMCI_NbPut"},
    {"shmem_get", "ARMCI_Get"},
    {"shmem_put", "armci_notify"},
    {"shmem_quiet", "ARMCI_Fence"},
    {"shmem_fence", "ARMCI_Test"},
    {"shmem_wait_until", "armci_notify_wait"},
    {"shmem_malloc", "ARMCI_Malloc"},
    {"shmem_finalize", "ARMCI_Finalize"},
    {"shmem_", "armci_"},
    {"set_lock", "ARMCI_Lock"},
    {"a later quiet", "a later wait"},
    {"fence and quiet", "fences"},
    {"a test, a fence", "ARMCI_Test, a fence"},
    {"pe 0", "process 0"},
    {"pe 1", "process 1"},
    {"shmem", "armci"},
    {"SHMEM", "ARMCI"},
    {"symmetric memory", "memory of ARMCI"},
    {"for a variable to change", "for a notification"},
}};

template <class F>
constexpr void each_armci_letter(std::string_view text, F&& f) {
  while (!text.empty()) {
    std::string_view here = text.substr(0, 1), there = here;
    for (const auto& [shmem, armci] : kArmciWords) {
      if (!text.starts_with(shmem)) continue;
      here = shmem;
      there = armci;
      break;
    }
    for (const char c : there) f(c);
    text.remove_prefix(here.size());
  }
}

template <class Pattern, auto kField>
struct ArmciText {
  static constexpr std::string_view kSource = Pattern::kMetric.*kField;
  static constexpr std::size_t kSize = [] {
    std::size_t size = 0;
    each_armci_letter(kSource, [&](char) { ++size; });
    return size;
  }();
  static constexpr std::array<char, kSize + 1> kLetters = [] {
    std::array<char, kSize + 1> letters{};
    std::size_t size = 0;
    each_armci_letter(kSource, [&](char c) { letters[size++] = c; });
    return letters;
  }();
  static constexpr std::string_view kText{kLetters.data(), kSize};
};

}  // namespace detail

template <class Pattern>
struct InArmci {
  template <auto kField>
  static constexpr std::string_view kText = detail::ArmciText<Pattern, kField>::kText;
  // Names of metrics are no names of functions.
  template <auto kField>
  struct Name {
    static constexpr std::string_view kSource = Pattern::kMetric.*kField;
    static constexpr bool kShmem = kSource.starts_with("shmem");
    static constexpr std::array<char, kSource.size() + 1> kLetters = [] {
      std::array<char, kSource.size() + 1> letters{};
      for (std::size_t i = 0; i < kSource.size(); ++i)
        letters[i] = kShmem && i < 5 ? "armci"[i] : kSource[i];
      return letters;
    }();
    static constexpr std::string_view kText{kLetters.data(), kSource.size()};
  };
  static constexpr Metric kMetric = [] {
    Metric metric = Pattern::kMetric;
    metric.name = Name<&Metric::name>::kText;
    metric.parent = Name<&Metric::parent>::kText;
    metric.title = kText<&Metric::title>;
    metric.summary = kText<&Metric::summary>;
    metric.formula = kText<&Metric::formula>;
    metric.meaning = kText<&Metric::meaning>;
    metric.advice = kText<&Metric::advice>;
    metric.timeline = kText<&Metric::timeline>;
    if (metric.own) metric.own = as_armci(*metric.own);
    metric.needs = Needs::kArmci;
    return metric;
  }();
};

}  // namespace kojak::expert

// SHMEM's branch of the tree once more, with the names and words of another model of communication.
// The rules are the same ones: what SHMEM's patterns find in a call of that model is counted here
// (in_model() in catalogue.h).
// Source: passive-target paper 2012 (its sections 2 to 4 are about ARMCI).
#pragma once

#include <array>
#include <string_view>

#include "expert/patterns/shmem/model_words.h"
#include "expert/patterns/shmem/shmem.h"
#include "expert/patterns/shmem/shmem_waits.h"
#include "expert/patterns/wait_for_progress.h"

namespace kojak::expert {
namespace detail {

// Hands on the letters of `text` in the model.
template <class F>
constexpr void each_letter(PgasModel model, std::string_view text, F&& f) {
  while (!text.empty()) {
    std::string_view here = text.substr(0, 1), there = here;
    for (const auto& [of_shmem, of_model] : words_of(model)) {
      if (!text.starts_with(of_shmem)) continue;
      here = of_shmem;
      there = of_model;
      break;
    }
    for (const char c : there) f(c);
    text.remove_prefix(here.size());
  }
}
// Names of metrics are no names of functions.
template <class F>
constexpr void each_letter_of_name(PgasModel model, std::string_view name, F&& f) {
  for (const auto& [of_shmem, of_model] : names_of(model)) {
    if (!name.starts_with(of_shmem)) continue;
    for (const char c : of_model) f(c);
    name.remove_prefix(of_shmem.size());
    break;
  }
  for (const char c : name) f(c);
}

template <class Pattern, PgasModel kModel, auto kField, bool kName>
struct TextInModel {
  template <class F>
  static constexpr void each(F&& f) {
    if constexpr (kName) {
      each_letter_of_name(kModel, Pattern::kMetric.*kField, f);
    } else {
      each_letter(kModel, Pattern::kMetric.*kField, f);
    }
  }
  static constexpr std::size_t kSize = [] {
    std::size_t size = 0;
    each([&](char) { ++size; });
    return size;
  }();
  static constexpr std::array<char, kSize + 1> kLetters = [] {
    std::array<char, kSize + 1> letters{};
    std::size_t size = 0;
    each([&](char c) { letters[size++] = c; });
    return letters;
  }();
  static constexpr std::string_view kText{kLetters.data(), kSize};
};

}  // namespace detail

template <class Pattern, PgasModel kModel>
struct InModel {
  template <auto kField>
  static constexpr std::string_view kText =
      detail::TextInModel<Pattern, kModel, kField, false>::kText;
  template <auto kField>
  static constexpr std::string_view kName =
      detail::TextInModel<Pattern, kModel, kField, true>::kText;
  static constexpr Metric kMetric = [] {
    Metric metric = Pattern::kMetric;
    metric.in_shmem = metric.name;
    metric.name = kName<&Metric::name>;
    metric.parent = kName<&Metric::parent>;
    metric.title = kText<&Metric::title>;
    metric.summary = kText<&Metric::summary>;
    metric.formula = kText<&Metric::formula>;
    metric.meaning = kText<&Metric::meaning>;
    metric.advice = kText<&Metric::advice>;
    metric.timeline = kText<&Metric::timeline>;
    if (metric.own) metric.own = in_model(*metric.own, kModel);
    metric.needs = needs_of(kModel);
    return metric;
  }();
};
template <class Pattern>
using InArmci = InModel<Pattern, PgasModel::kArmci>;

}  // namespace kojak::expert

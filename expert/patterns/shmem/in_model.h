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

// Whether a word of the model begins with that letter. (Nearly all letters of a text begin none,
// and the compiler, which makes the texts, is slow at comparing.)
constexpr std::array<bool, 256> first_letters(PgasModel model) {
  std::array<bool, 256> letters{};
  for (const WordPair& pair : words_of(model)) {
    letters[static_cast<unsigned char>(pair.first.front())] = true;
  }
  return letters;
}
template <PgasModel kModel>
inline constexpr std::array<bool, 256> kFirstLetters = first_letters(kModel);

constexpr bool begins_with(const char* text, const char* end, std::string_view word) {
  if (*text != word.front() || static_cast<std::size_t>(end - text) < word.size()) return false;
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (text[i] != word[i]) return false;
  }
  return true;
}

// Hands on the letters of `text` in the model.
template <PgasModel kModel, class F>
constexpr void each_letter(std::string_view text, F&& f) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const WordPair* found = nullptr;
    if (kFirstLetters<kModel>[static_cast<unsigned char>(*at)]) {
      for (const WordPair& pair : words_of(kModel)) {
        if (!begins_with(at, end, pair.first)) continue;
        found = &pair;
        break;
      }
    }
    if (found == nullptr) {
      f(*at++);
      continue;
    }
    for (const char c : found->second) f(c);
    at += found->first.size();
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
      each_letter<kModel>(Pattern::kMetric.*kField, f);
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
template <class Pattern>
using InUpc = InModel<Pattern, PgasModel::kUpc>;

}  // namespace kojak::expert

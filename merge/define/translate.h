// Replaces the identifiers in a record of a local trace by those of the merged trace.
//
// A visitor for visit_fields(). Peers are world ranks and stay as they are. An identifier that no
// definition introduced becomes absent, and unknown() tells; likewise a peer outside of the run.
// Owns nothing.
#pragma once

#include "merge/define/definitions.h"

namespace kojak::merge {

class Translator {
 public:
  Translator(const Translation& translation, std::uint32_t processes)
      : translation_(translation), processes_(processes) {}

  template <class T>
  [[gnu::always_inline]] void field(const FieldInfo&, T& value) {
    if constexpr (Translated<T>) {
      replace(translation_.*KindOf<T>::kMap, value);
    } else if constexpr (std::is_same_v<T, PeerId>) {
      if (raw(value) >= processes_ && !is_absent(value)) [[unlikely]] {
        bad_peer_ = true;
        value = absent<PeerId>();
      }
    }
  }
  template <class T>
  void array(const FieldInfo&, T&, std::uint32_t) {}
  template <class T>
  void rest(const FieldInfo&, T&) {}
  void text(const FieldInfo&, Text&) {}
  void metrics(const FieldInfo&, MetricValues&) {}

  bool unknown() const { return unknown_; }
  bool bad_peer() const { return bad_peer_; }

 private:
  template <class T>
  [[gnu::always_inline]] void replace(const IdMap& map, T& value) {
    const std::uint32_t merged = map[raw(value)];
    if (merged == kAbsent && !is_absent(value)) [[unlikely]]
      unknown_ = true;
    value = static_cast<T>(merged);
  }
  const Translation& translation_;
  std::uint32_t processes_;
  bool unknown_ = false;
  bool bad_peer_ = false;
};

}  // namespace kojak::merge

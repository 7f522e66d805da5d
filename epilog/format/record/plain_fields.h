// A visitor for visit_fields() that sees the plain fields of a record, and no lists, texts and
// counters: f(FieldInfo, value&) for each, in file order. Keeps f.
#pragma once

#include <utility>

#include "epilog/format/record/records.h"

namespace kojak {

template <class F>
class PlainFields {
 public:
  explicit PlainFields(F f) : f_(std::move(f)) {}
  template <class T>
  void field(const FieldInfo& info, T& value) {
    f_(info, value);
  }
  template <class T>
  void array(const FieldInfo&, const T&, std::uint32_t) {}
  template <class T>
  void rest(const FieldInfo&, const T&) {}
  void text(const FieldInfo&, const Text&) {}
  void metrics(const FieldInfo&, const MetricValues&) {}

 private:
  F f_;
};

}  // namespace kojak

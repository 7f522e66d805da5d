// Finds what a process has open among very much of it.
//
// Lists of what is open are short as a rule, and are searched. Of a process whose list is long this
// knows each entry: whoever keeps the lists tells what comes and goes. Costs nothing else.
#pragma once

#include <cstddef>

#include "earl/detail/flat_index.h"

namespace kojak::earl {

class ManyOpen {
 public:
  using Key = detail::Key128;
  static bool knows(std::size_t listed) { return listed > kFew; }

  // Only for lists that it knows; kNone if it is not there.
  std::uint32_t find(const Key& key) const { return index_.find(key); }
  // The last entry of the list is new. `of`: of an entry its key and number, as a pair.
  template <class List, class Of>
  void added(const List& list, Of&& of) {
    if (!knows(list.size())) return;
    if (list.size() == kFew + 1) {
      for (const auto& entry : list) add(of(entry));
    } else {
      add(of(list.back()));
    }
  }
  // An entry has been taken from the list.
  template <class List, class Of>
  void removed(const List& list, const Key& key, Of&& of) {
    if (list.size() < kFew) return;
    index_.take(key);
    if (list.size() != kFew) return;
    for (const auto& entry : list) index_.take(of(entry).first);
  }
  // The entry has another number now.
  void moved(const Key& key, std::uint32_t number) {
    index_.take(key);
    index_.add(key, number);
  }

 private:
  static constexpr std::size_t kFew = 16;
  template <class Pair>
  void add(const Pair& entry) {
    index_.add(entry.first, entry.second);
  }
  detail::FlatIndex<Key> index_;
};

}  // namespace kojak::earl

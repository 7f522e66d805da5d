// Reads several lists of held ends, and mail, as one: by the time of the ends' own records, then
// the origin's rank, then the number of the operation.
//
// Owns the readers, one for each list; their lists must not change meanwhile. Kept and used again,
// so that a release allocates nothing in the common case.
#pragma once

#include <algorithm>
#include <vector>

#include "merge/complete/held_ends.h"

namespace kojak::merge {

class Release {
 public:
  // f(ListInfo, HeldEnd) for every end; closes the lists.
  template <class F>
  void run(HeldEnds& held, std::vector<ListId>& lists, F&& f) {
    Mail none;
    run(held, lists, none, {}, f);
  }
  // `info` is that of the mail.
  template <class F>
  void run(HeldEnds& held, std::vector<ListId>& lists, Mail& mail, const ListInfo& info, F&& f) {
    mail.sort();
    auto letter = mail.ends.cbegin();
    run_lists(held, lists, [&](const Source& source) {
      for (; letter != mail.ends.cend() && before(*letter, info, source); ++letter)
        f(info, *letter);
      f(source.info, source.end);
    });
    for (; letter != mail.ends.cend(); ++letter) f(info, *letter);
    mail.clear();
  }

 private:
  struct Source {
    HeldEnds::Reader reader;
    ListInfo info;
    HeldEnd end;
    ListId list;
  };
  // f(Source) for every end; closes the lists.
  template <class F>
  void run_lists(HeldEnds& held, std::vector<ListId>& lists, F&& f) {
    if (lists.empty()) return;
    sources_.clear();
    // Many ranks, many lists, each somewhere else in memory: fetched side by side.
    for (const ListId list : lists) held.prefetch(list);
    for (const ListId list : lists) held.prefetch_ends(list);
    for (const ListId list : lists) {
      Source source{HeldEnds::Reader(held, list), held.info(list), {}, list};
      if (source.reader.next(source.end)) sources_.push_back(std::move(source));
    }
    heap_.clear();
    for (std::size_t i = 0; i < sources_.size(); ++i) heap_.push_back(&sources_[i]);
    // The smallest on top.
    const auto behind = [](const Source* a, const Source* b) { return before(*b, *a); };
    std::make_heap(heap_.begin(), heap_.end(), behind);
    while (heap_.size() > 1) {
      Source& source = *heap_.front();
      f(source);
      if (source.reader.next(source.end)) {
        sink();
      } else {
        std::pop_heap(heap_.begin(), heap_.end(), behind);
        heap_.pop_back();
      }
    }
    if (!heap_.empty()) {
      Source& source = *heap_.front();
      do {
        f(source);
      } while (source.reader.next(source.end));
    }
    sources_.clear();
    for (const ListId list : lists) held.close(list);
    lists.clear();
  }

  // Compares by time, origin, number; gives -1, 0 or 1.
  static int order(const HeldEnd& a, const ListInfo& of_a, const HeldEnd& b, const ListInfo& of_b) {
    if (a.time != b.time) return a.time < b.time ? -1 : 1;
    const std::uint32_t x = origin_of(of_a, a), y = origin_of(of_b, b);
    if (x != y) return x < y ? -1 : 1;
    return a.rmaid != b.rmaid ? (a.rmaid < b.rmaid ? -1 : 1) : 0;
  }
  static bool before(const Source& a, const Source& b) {
    const int ordered = order(a.end, a.info, b.end, b.info);
    return ordered != 0 ? ordered < 0 : a.list < b.list;
  }
  static bool before(const HeldEnd& letter, const ListInfo& info, const Source& b) {
    return order(letter, info, b.end, b.info) <= 0;
  }
  // The top has moved on: down to its place.
  void sink() {
    Source* const moved = heap_.front();
    std::size_t i = 0;
    for (;;) {
      std::size_t child = 2 * i + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
      if (!before(*heap_[child], *moved)) break;
      heap_[i] = heap_[child];
      i = child;
    }
    heap_[i] = moved;
  }
  std::vector<Source> sources_;
  std::vector<Source*> heap_;
};

}  // namespace kojak::merge

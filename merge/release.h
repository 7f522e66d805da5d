// Reads several lists of held ends as one: by the time of the ends' own records, then the origin's
// rank, then the number of the operation.
//
// Owns the readers, one for each list; their lists must not change meanwhile. Kept and used again,
// so that a release allocates nothing in the common case. Not thread-safe.
#pragma once

#include <algorithm>
#include <vector>

#include "merge/held_ends.h"

namespace kojak::merge {

class Release {
 public:
  // f(ListInfo, HeldEnd) for every end; closes the lists.
  template <class F>
  void run(HeldEnds& held, std::vector<ListId>& lists, F&& f) {
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
      f(source.info, source.end);
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
        f(source.info, source.end);
      } while (source.reader.next(source.end));
    }
    sources_.clear();
    for (const ListId list : lists) held.close(list);
    lists.clear();
  }

 private:
  struct Source {
    HeldEnds::Reader reader;
    ListInfo info;
    HeldEnd end;
    ListId list;
  };
  static bool before(const Source& a, const Source& b) {
    if (a.end.time != b.end.time) return a.end.time < b.end.time;
    if (a.info.origin != b.info.origin) return a.info.origin < b.info.origin;
    if (a.end.rmaid != b.end.rmaid) return a.end.rmaid < b.end.rmaid;
    return a.list < b.list;
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

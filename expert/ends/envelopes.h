// Messages or receives that are open at the end of a run, found by what is known of one.
//
// Add all, seal(), then ask. Each question costs a few binary searches, however many there are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "epilog/format/record/types.h"

namespace kojak::expert {

struct Envelope {
  std::uint32_t source, destination;
  CommId com;
  Tag tag;
};

class Envelopes {
 public:
  // A source or tag that is absent fits every one that is asked for.
  void add(const Envelope& e) {
    for (std::size_t first = 0; first < kOrders; ++first) {
      orders_[first].push_back(key(first, e.destination, {e.source, raw(e.com), raw(e.tag)}));
    }
  }
  void seal() {
    for (std::vector<Key>& order : orders_) std::sort(order.begin(), order.end());
  }
  // Whether one is there. What is left open (nullopt) is fitted by all.
  bool any(std::uint32_t destination, std::optional<std::uint32_t> source,
           std::optional<CommId> com, std::optional<Tag> tag) const {
    const std::array<std::optional<std::uint32_t>, kFields> asked{
        source, com ? std::optional(raw(*com)) : std::nullopt,
        tag ? std::optional(raw(*tag)) : std::nullopt};
    // An order in which all that is asked for comes before all that is open.
    std::size_t first = 0, known = 0;
    for (; first < kOrders; ++first) {
      for (known = 0; known < kFields && asked[(first + known) % kFields];) ++known;
      std::size_t open = known;
      while (open < kFields && !asked[(first + open) % kFields]) ++open;
      if (open == kFields) break;
    }
    // Each of the other two may have been absent in what was added.
    for (unsigned absent = 0; absent < 4; ++absent) {
      std::array<std::uint32_t, kFields> fields{asked[0].value_or(0), asked[1].value_or(0),
                                                asked[2].value_or(0)};
      if ((absent & 1) != 0) fields[0] = kAbsent;
      if ((absent & 2) != 0) fields[2] = kAbsent;
      if (((absent & 1) != 0 && !asked[0]) || ((absent & 2) != 0 && !asked[2])) continue;
      const Key wanted = key(first, destination, fields);
      const auto same = [&](const Key& k) {
        return std::equal(wanted.begin(), wanted.begin() + 1 + static_cast<int>(known), k.begin());
      };
      Key low = wanted;
      std::fill(low.begin() + 1 + static_cast<int>(known), low.end(), 0);
      const auto at = std::lower_bound(orders_[first].begin(), orders_[first].end(), low);
      if (at != orders_[first].end() && same(*at)) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kFields = 3;  // source, communicator, tag
  // Each begins with another field, so that every choice of fields comes first in one of them.
  static constexpr std::size_t kOrders = 3;
  using Key = std::array<std::uint32_t, 1 + kFields>;

  static Key key(std::size_t first, std::uint32_t destination,
                 const std::array<std::uint32_t, kFields>& fields) {
    return {destination, fields[first], fields[(first + 1) % kFields],
            fields[(first + 2) % kFields]};
  }
  std::array<std::vector<Key>, kOrders> orders_;
};

}  // namespace kojak::expert

// The channels of messages: one for each communicator, tag, source and destination.
//
// The table owns the channels and finds them by key. Many that are idle are forgotten now and then,
// so that a program with ever new tags stays small; both sides of a channel restart at 0 together,
// for their counts go with it. Channel has `key` and idle().
#pragma once

#include <algorithm>
#include <vector>

#include "earl/detail/flat_index.h"
#include "epilog/format/record/types.h"

namespace kojak::earl::detail {

inline Key128 channel_key(CommId com, Tag tag, ProcessId source, ProcessId destination) {
  return {std::uint64_t{raw(com)} << 32 | raw(tag),
          std::uint64_t{raw(source)} << 32 | raw(destination)};
}

template <class Channel>
class ChannelTable {
 public:
  // Number of the channel; kNone if there is none.
  std::uint32_t find(const Key128& key) const { return index_.find(key); }
  // The channel's number; it is made when new.
  std::uint32_t get(const Key128& key) {
    const std::uint32_t found = index_.find(key);
    return found != kNone ? found : add(key);
  }
  Channel& operator[](std::uint32_t i) { return channels_[i]; }
  const Channel& operator[](std::uint32_t i) const { return channels_[i]; }
  std::size_t size() const { return index_.size(); }
  // Calls f for each key and number, in no particular order.
  template <class F>
  void for_each(F f) const {
    index_.for_each(f);
  }
  // At so many channels idle ones are searched next.
  std::size_t& purge_at() { return purge_at_; }
  const std::size_t& purge_at() const { return purge_at_; }

 private:
  [[gnu::noinline]] std::uint32_t add(const Key128& key) {
    if (channels_.live() >= purge_at_) purge();
    const std::uint32_t made = channels_.take();
    channels_[made] = Channel{};
    channels_[made].key = key;
    index_.insert(key, made);
    return made;
  }
  void purge() {
    std::vector<std::uint32_t> idle;
    index_.for_each([&](const Key128&, std::uint32_t i) {
      if (channels_[i].idle()) idle.push_back(i);
    });
    for (const std::uint32_t i : idle) {
      index_.erase(channels_[i].key);
      channels_.give_back(i);
    }
    purge_at_ = std::max(purge_at_, 2 * channels_.live());
  }

  Pool<Channel> channels_;
  FlatIndex<Key128> index_;
  std::size_t purge_at_ = 1u << 17;
};

}  // namespace kojak::earl::detail

#include "merge/clock/causes.h"

#include <algorithm>

namespace kojak::merge {

void Channels::wake(Channel& channel) {
  if (channel.waiter != kAbsent) woken_.push_back(channel.waiter);
  channel.waiter = kAbsent;
}

void Channels::publish(const ChannelKey& key, const Cause& cause, std::uint64_t number) {
  Channel& channel = channels_[key];
  if (number == 0) number = channel.published + 1;
  channel.published = std::max(channel.published, number);
  if (causes_ < kMostCauses && channel.trusted) {
    channel.causes.emplace_back(number, cause);
    ++causes_;
  }
  if (channel.waiter != kAbsent && channel.wanted <= channel.published) wake(channel);
}

void Channels::skip_causes(const ChannelKey& key, std::uint64_t number) {
  Channel& channel = channels_[key];
  channel.published = std::max(channel.published, number);
  if (channel.waiter != kAbsent && channel.wanted <= channel.published) wake(channel);
}

void Channels::skip_effects(const ChannelKey& key, std::uint64_t number) {
  Channel& channel = channels_[key];
  channel.expected = std::max(channel.expected, number);
  causes_ -= std::erase_if(channel.causes, [&](const auto& c) { return c.first <= number; });
}

Channels::Found Channels::take(const ChannelKey& key, std::uint64_t number, std::uint32_t process,
                               bool cause_ended, Cause& cause) {
  Channel& channel = channels_[key];
  const auto at = std::find_if(channel.causes.begin(), channel.causes.end(),
                               [&](const auto& c) { return c.first == number; });
  const bool found = at != channel.causes.end();
  const bool trusted = channel.trusted;
  if (found) {
    cause = at->second;
    channel.causes.erase(at);
    --causes_;
  } else if (channel.published < number && !cause_ended && trusted) {
    channel.waiter = process;
    channel.wanted = number;
    return Found::kWait;
  }
  if (key.kind == ChannelKind::kLock && found) {
    channels_.erase(key);
  } else if (!absolute_ && trusted && channel.causes.empty() &&
             channel.published == channel.expected) {
    channels_.erase(key);  // both sides begin again from 0
  }
  return found && trusted ? Found::kCause : Found::kNone;
}

}  // namespace kojak::merge

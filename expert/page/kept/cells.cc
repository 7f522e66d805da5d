#include "expert/page/kept/cells.h"

namespace kojak::html {
namespace {

// Which of those that a wait stands for it speaks of.
Nanoseconds most_of(const WaitBox& wait) {
  return wait.waits == 1 ? wait.waited : wait.most;
}
auto rank_of(const WaitBox& wait) {
  const Nanoseconds begin = wait.waits == 1 ? wait.begin : wait.most_begin;
  return std::tuple(~most_of(wait), begin, wait.metric, wait.awaited, wait.ended);
}

}  // namespace

void join(WaitBox& wait, const WaitBox& other) {
  const WaitBox first = rank_of(other) < rank_of(wait) ? other : wait;
  const auto rank = rank_of(first);
  wait.metric = first.metric;
  wait.awaited = first.awaited;
  wait.ended = first.ended;
  wait.path = first.path;
  wait.begin = std::min(wait.begin, other.begin);
  wait.end = std::max(wait.end, other.end);
  wait.waited += other.waited;
  wait.waits += other.waits;
  wait.most = ~std::get<0>(rank);
  wait.most_begin = std::get<1>(rank);
}

void join(Band& band, const Band& other) {
  band.begin = std::min(band.begin, other.begin);
  band.end = std::max(band.end, other.end);
  band.epochs += other.epochs;
}

void join(Stripe& stripe, const Stripe& other) {
  stripe.begin = std::min(stripe.begin, other.begin);
  stripe.end = std::max(stripe.end, other.end);
  stripe.without += other.without;
  stripe.readings += other.readings;
}

}  // namespace kojak::html

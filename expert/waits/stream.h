// Who is told of what an analysis sees and finds, in the order of the trace.
#pragma once

#include "earl/replay.h"
#include "expert/waits/wait.h"

namespace kojak::expert {

// Sees everything that EARL's replay delivers, before the patterns do, and every wait that they
// find.
class ReplayWatcher {
 public:
  virtual ~ReplayWatcher() = default;
  // Before everything: when the first event is. After everything: the latest time.
  virtual void on_begin(Seconds /*first*/) {}
  virtual void on_end(Seconds /*last*/) {}
  virtual void on_enter(const earl::OpenCall&) {}
  virtual void on_call(const earl::Call&) {}
  virtual void on_send(const earl::SendEvent&) {}
  virtual void on_message_call(const earl::MessageCall&) {}
  virtual void on_transfer(const earl::Transfer&) {}
  virtual void on_transfer_end(const earl::TransferEnd&) {}
  virtual void on_fence_epoch(const earl::FenceEpoch&) {}
  virtual void on_window_collective(const earl::WindowInstance&) {}
  virtual void on_access_epoch(const earl::AccessEpoch&) {}
  virtual void on_access_transaction(const earl::AccessEpoch&) {}
  virtual void on_exposure_transaction(const earl::ExposureEpoch&) {}
  virtual void on_passive_epoch(const earl::PassiveEpoch&) {}
  virtual void on_processor(const earl::OpenCall&, Seconds /*time*/, const earl::ProcessorTimes&) {}
  // Each wait that is counted, as in AnalysisOptions::wait: called after the pattern, not before
  // it.
  virtual void on_wait(const Wait&) {}
};

}  // namespace kojak::expert

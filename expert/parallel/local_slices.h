// The slices of a run's local traces: each is merged by itself, of each file the piece that it
// needs.
//
// Between cutting and reading there is no thread; a slice that is read has one. Memory: that of
// local_rows.h.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "earl/trace.h"
#include "expert/parallel/local_rows.h"
#include "expert/parallel/slices.h"
#include "expert/parallel/team.h"
#include "merge/stream.h"

namespace kojak::parallel {

class LocalSlices final : public Slices {
 public:
  // `team`: reads the local traces together with it (shared_survey.h). The leader cuts and tells
  // it; the others come back when it has, cut like that, or cannot be cut. What is found is kept.
  static Result<std::unique_ptr<LocalSlices>> of(const merge::MergeOptions& options,
                                                 Team* team = nullptr, const KeptFiles& kept = {});
  Status tell_cuts(Team& team);

  const earl::Standing* standing(std::size_t number) override;
  Result<std::unique_ptr<ByteSource>> records(std::size_t number, expert::Gate& gate) override;
  Result<std::string> finish() override;
  std::uint64_t own_events(std::size_t number, std::uint64_t read) const override;
  void forget() override;  // all but definitions()

  // A merged trace of the run without events; lives as long as this.
  earl::Trace& definitions() { return *definitions_; }
  // What pass 1 of the merge found, and about how many events the run has.
  const merge::Summary& found() const { return rows_.merge().found(); }
  std::uint64_t expected_events() const { return rows_.merge().expected_events(); }

 private:
  explicit LocalSlices(LocalRows rows) : rows_(std::move(rows)) {}
  std::string why_not(const merge::MergeOptions& options) const;
  void cut_at_each();
  merge::Slice slice(std::size_t number, expert::Gate& gate) const;

  LocalRows rows_;
  merge::MergeOptions options_;
  std::vector<std::byte> defined_;
  std::optional<earl::Trace> definitions_;
  std::optional<earl::Standing> standing_;
  merge::Slice slice_;
  std::optional<merge::MergedStream> stream_;  // last: its thread uses the rest
};

}  // namespace kojak::parallel

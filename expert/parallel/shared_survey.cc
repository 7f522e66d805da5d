#include "expert/parallel/shared_survey.h"

#include <optional>
#include <utility>

#include "epilog/format/archive.h"

namespace kojak::parallel {
namespace {

// Which traces a process is to read, of how many.
struct Share {
  std::uint64_t traces = 0;
  merge::TraceRange range;
};

// The answer of who reads it.
Bytes read_share(const std::vector<std::byte>& asked, int rank, LocalRows& rows,
                 const KeptFiles& kept) {
  Share share;
  if (!unpack(asked, share) || share.traces != rows.merge().traces().size()) {
    return Error{.code = ExitCode::kOutputFailed,
                 .reason = "it sees other traces than the first process",
                 .remedy = "the run's folder must be the same for all processes"};
  }
  return kept_or(kept, "survey-" + std::to_string(rank), asked,
                 [&]() -> Bytes { return packed(rows.survey(share.range)); });
}

}  // namespace

Status read_together(Team& team, LocalRows& rows, const KeptFiles& kept) {
  const auto& traces = rows.merge().traces();
  const auto shares = merge::shares_of(traces, static_cast<std::size_t>(team.size()));
  const auto asked = [&](int rank) {
    return packed(Share{traces.size(), shares[static_cast<std::size_t>(rank)]});
  };
  for (int rank = 1; rank < team.size(); ++rank) team.ask(rank, asked(rank));
  Bytes told = guarded([&] { return read_share(asked(0), 0, rows, kept); });
  SurveyPart all;
  // (They wait until it is taken, also where it is of no use any more.)
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank != 0) {
      Bytes answer = team.answer_of(rank);
      if (told) told = std::move(answer);
    }
    if (!told) continue;
    SurveyPart part;
    if (!unpack(*told, part)) told = cannot_be_read();
    all.found.insert(all.found.end(), part.found.begin(), part.found.end());
    all.rows.insert(all.rows.end(), part.rows.begin(), part.rows.end());
  }
  if (!told) return told.error();
  return rows.put_together(std::move(all), team.size() > 1);
}

Status tell_chosen(Team& team, int others, const std::vector<Meeting>& meetings, LocalRows& rows) {
  team.ask(1, others, packed(rows.chosen(meetings)));
  Status status;
  for (int rank = 1; rank <= others; ++rank) {
    const Bytes taken = team.answer_of(rank);
    if (status && !taken) status = taken.error();
  }
  return status;
}

Result<bool> read_for_leader(Team& team, LocalRows& rows, const KeptFiles& kept) {
  // Does what the leader asks for. Whatever goes wrong is the answer, for which the leader waits.
  const auto serve = [&](auto&& does) -> Result<bool> {
    const auto work = team.next_work();
    if (!work) return false;
    Bytes done = guarded([&] { return does(*work); });
    const Result<bool> result = done ? Result<bool>(true) : done.error();
    team.answer(std::move(done));
    return result;
  };
  auto served = serve([&](const std::vector<std::byte>& work) {
    return read_share(work, team.rank(), rows, kept);
  });
  if (!served || !*served) return served;
  SurveyPart all;
  served = serve([&](const std::vector<std::byte>& told) -> Bytes {
    return unpack(told, all) ? Bytes(std::vector<std::byte>()) : cannot_be_read();
  });
  if (!served || !*served) return served;
  if (Status status = rows.put_together(std::move(all), false); !status) return status.error();
  return true;
}

}  // namespace kojak::parallel

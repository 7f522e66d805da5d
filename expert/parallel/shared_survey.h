// The local traces of a run, read once by all of a team together: each process reads some of them,
// and gets of the others what they have found (local_rows.h).
//
// Each process calls these in this order. Whoever does not lead may find at each of them that the
// leader has ended, or goes on by itself. Errors: those of reading, of whichever process it was.
#pragma once

#include "expert/parallel/local_rows.h"
#include "expert/parallel/team.h"

namespace kojak::parallel {

// The leader's, of traces that were opened: all are read, or taken from what is kept.
Status read_together(Team& team, LocalRows& rows, const KeptFiles& kept);
// And when it has chosen where the run is cut: to the first `others`.
Status tell_chosen(Team& team, int others, const std::vector<Meeting>& meetings, LocalRows& rows);

// The others': reads what it is asked to read. True: all is there, with the chosen meetings alone.
Result<bool> read_for_leader(Team& team, LocalRows& rows, const KeptFiles& kept);

}  // namespace kojak::parallel

// What the first screen of a page says of a run: the verdict, where its time went, and for each
// group of root causes who makes the others wait, in which lines, and how the waiting is spread.
//
// Values that stand in the page as they are: sentences, numbers and their units come from
// expert/findings. Nothing fails; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kojak::expert {
class Report;
}

namespace kojak::html {

// A piece of a sentence, and what is special about it: "share", "who", "function", "place", "gain";
// empty: nothing.
struct SaidPiece {
  std::string text, is;
};
struct SaidSentence {
  std::string is;  // "processors", "share", "who", "try", ...
  std::vector<SaidPiece> pieces;
};

struct BarPart {
  std::string kind, name;   // "waiting", and what it is called
  std::string share, time;  // "67 %"; empty: not worth one
  double seconds = 0;
};

// Lines that belong to a group: of a function that samples were taken in, or between two calls.
struct ExcerptLines {
  std::string file;
  long begin = 0;                                 // where the function begins; 0: not known
  std::vector<std::pair<long, std::string>> hot;  // with their share of its samples
  long after = 0, before = 0;  // without samples: the calls around it; 0: there is none
};

// A column of a profile: a process, or a set of them that wait for each other only.
struct ProfileColumn {
  std::string name;
  double makes_wait = 0, waits = 0;
};

struct GroupCard {
  std::string number, title, who, place;
  std::string waits, share, gain, gain_share, gain_words;
  double seconds = 0;
  std::size_t call_node = static_cast<std::size_t>(-1);  // in the trees
  bool in_calls = false;
  std::vector<std::size_t> culprits, victims;  // rows of the timeline: a few, the largest first
  ExcerptLines lines;
  std::vector<ProfileColumn> profile;
  std::string profile_of;  // "ranks 0 to 15", "512 pairs, 4 in a column (its largest)"
  struct PatternAt {
    std::string pattern;                                   // its unique name
    std::size_t call_node = static_cast<std::size_t>(-1);  // none: at other places
    double seconds = 0;
  };
  std::vector<PatternAt> patterns;
  std::string how;                                       // "Wait at Fence 3.0 s, Late Post 0.13 s"
  std::uint32_t cause = static_cast<std::uint32_t>(-1);  // its largest, of RootCauses::causes
  std::vector<GroupCard> parts;
};

struct EfficiencyLine {
  unsigned depth = 0;
  std::string name, words, share;
  double value = 0;
};

struct VerdictPart {
  std::vector<SaidSentence> sentences;  // none: there is no verdict
  std::optional<std::size_t> group;     // that is spoken of
  std::vector<BarPart> bar;
  std::string bar_of;    // "of 8.5 s: 4 processes, MPI_Init to MPI_Finalize"
  bool grouped = false;  // root causes are known
  std::vector<GroupCard> groups;
  std::string said;        // how much of the waiting they are, and what is left
  std::string chain_said;  // of how much of the waiting the chain of the group spoken of tells
  std::vector<EfficiencyLine> efficiency;  // none: not known
  double run_seconds = 0;
};

VerdictPart verdict_part(const expert::Report& analysis);
// Numbers stay with their units.
std::string unbroken(std::string text);

}  // namespace kojak::html

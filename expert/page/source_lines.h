// Lines of the program's own source around its calls, so that a page shows the code.
//
// Only what is surely meant is read: regular files, up to 64 MB, with a name of a programming
// language's source. A name that is not absolute is relative to where the compiler ran: the folders
// that the caller names are tried, and for each file the first is taken in which most of its calls
// of MPI stand in lines that name their function. A file that was changed after the run says so:
// its lines may have moved. Nothing fails: what cannot be read is left out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "expert/output/json.h"

namespace kojak::html {

// A line of a file; `file` is the file's number in the page's list.
struct SourcePlace {
  std::size_t file;
  long line;           // from 1
  std::string called;  // the function that is called there; may be empty
  auto operator<=>(const SourcePlace&) const = default;
};
// Where source is looked for.
struct SourceSearch {
  std::filesystem::file_time_type run;         // when the trace was written
  std::vector<std::filesystem::path> folders;  // for relative names
};
struct SourceLines {
  std::size_t file;
  long first;                      // number of the first line
  std::vector<std::string> lines;  // without their ends, cut after kLongestSourceLine bytes
  bool changed;                    // after the run
};

inline constexpr long kLinesAround = 3;    // before and after a call
inline constexpr long kLinesBetween = 25;  // calls that are nearer: also what lies between them
inline constexpr std::size_t kLongestSourceLine = 200;
inline constexpr std::size_t kMostSource = 500'000;  // bytes of a page

// Where each file of the places is; left out if that is not known. Names that are not absolute and
// have no calls of MPI are looked for where others of the program were found.
std::map<std::size_t, std::filesystem::path> find_source(
    const std::vector<std::string>& files, std::vector<SourcePlace> places,
    const std::vector<std::filesystem::path>& folders);

// In order of files and lines; neighbours with lines in common are one. `files`: paths by number.
// `complete` becomes false if kMostSource was not enough.
std::vector<SourceLines> read_source(const std::vector<std::string>& files,
                                     std::vector<SourcePlace> places, const SourceSearch& search,
                                     bool& complete);

// For a page of this trace or report: the current folder, and that of the file with the one above,
// where `kojak run` was started. Absent if it is no file ("-").
std::optional<SourceSearch> source_search(const std::string& path);

void add_source(Json& json, const std::vector<SourceLines>& source);

}  // namespace kojak::html

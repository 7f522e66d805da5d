// What all commands of kojak share: options, --help and --version, messages, exit codes, progress.
//
// run_tool() is the whole main() of a command: it parses the command line with
// Boost.Program_options, answers --help and --version, hands the rest to the command's body, turns
// what goes wrong into one message on stderr and a documented exit code, and makes sure that what
// went to stdout arrived. A signal that ends it leaves no incomplete output behind. Messages start
// with the command's name; they are coloured on a terminal unless NO_COLOR is set. Single-threaded:
// call all of this from the main thread.
#pragma once

#include <boost/program_options.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "epilog/format/error.h"

namespace kojak::cli {

namespace po = boost::program_options;

// The constant texts of a command; --help is made from them and from the options.
struct ToolInfo {
  const char* name;                   // "elg_print"
  const char* arguments;              // "[options] TRACE"
  const char* purpose;                // one or two sentences
  const char* example;                // "elg_print --rank 0 a.elg"
  const char* exit_codes = nullptr;   // replaces the common explanation, where a command differs
  const char* subcommands = nullptr;  // "run config ...", of a command that has some
};

// The options that a command understands. --help, --version and --quiet are added by run_tool(). A
// value has a name that tells what it is ("FILE"); where only some words are possible, they are the
// name ("native|classic"). Help, and the completion of shells (tools/completion), are made of that.
struct ToolOptions {
  po::options_description visible{"Options"};
  po::options_description hidden;  // positional arguments get their names here
  po::positional_options_description positional;
  // Options end at the first positional argument; it and all that follows, dashes or not, belong to
  // the positional option (a command line to be run).
  bool stop_at_positional = false;
};

// Runs a command. `body` gets the parsed options; what it returns becomes the exit code. An
// exception out of it (no memory, a mistake of ours) gives a message and exit code 4.
int run_tool(int argc, char** argv, const ToolInfo& info, const ToolOptions& options,
             const std::function<ExitCode(const po::variables_map&)>& body);
// The same for a command whose exit status is another program's.
int run_tool_with_status(int argc, char** argv, const ToolInfo& info, const ToolOptions& options,
                         const std::function<int(const po::variables_map&)>& body);

// Options as words, those that are not given with their default: equal where they are. `without`
// these.
std::vector<std::string> words_of(const po::variables_map& options,
                                  const std::set<std::string>& without);

// The folder that holds the running program, also where the dynamic linker was started with its
// name, or there is no /proc.
std::filesystem::path program_folder();

// Messages on stderr: "elg_print: error: ...". Warnings and notes are silent under --quiet.
void print_error(const Error& error);
void print_error(std::string_view text);
// Prints the error; the exit code to end with.
ExitCode failed(const Error& error);
void print_warning(std::string_view text);
void print_note(std::string_view text);
// Whether this command would write over what it reads, or two outputs over each other
// (epilog/format/io/file_identity.h): prints which, and returns the exit code to end with. For
// every command that writes files, before it opens any.
std::optional<ExitCode> overwrites(const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs);
// A wrong command line that only the body can see: prints it with a hint at --help.
ExitCode usage_error(std::string_view text);
bool quiet();

// Whether escape sequences are welcome on this stream (1 or 2): a terminal, and no NO_COLOR.
bool colours(int fd);
// The text in bold if colours are welcome there, else as it is.
std::string bold(std::string_view text, int fd = 1);

// A progress bar on stderr for what can take long: shown on a terminal only, after two seconds,
// never under --quiet. update() may be called for every record: it looks at the clock rarely.
class Progress {
 public:
  // `total` in any unit (bytes, events); 0 if unknown: then the amount itself is shown.
  Progress(std::string what, std::uint64_t total);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(std::uint64_t done) {
    if (enabled_ && (++calls_ & 0xFFF) == 0) draw(done);
  }
  // Looks at the clock each time: for callers that call seldom.
  void update_now(std::uint64_t done) {
    if (enabled_) draw(done);
  }
  void finish();  // removes the bar

 private:
  void draw(std::uint64_t done);
  std::string what_;
  std::uint64_t total_;
  std::uint64_t calls_ = 0;
  std::chrono::steady_clock::time_point start_, last_;
  bool enabled_ = false;
  bool shown_ = false;
};

// Size of a file for Progress, 0 if it has none (a pipe).
std::uint64_t file_size(const std::string& path);

// Width of the terminal on this stream, from 46 to 200 columns; `otherwise` where there is none.
unsigned terminal_width(int fd = 1, unsigned otherwise = 100);

}  // namespace kojak::cli

#include "tools/cli/cli.h"

#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <sstream>

#include "epilog/format/io/file_identity.h"
#include "epilog/format/io/temporary_files.h"
#include "epilog/format/text/printable.h"
#include "tools/cli/option_table.h"
#include "tools/cli/table.h"

namespace kojak::cli {
namespace {

// What the messages of this process need to know; written once, by run_tool().
struct Session {
  std::string name = "kojak";
  bool quiet = false;
};
Session session;

void message(const char* kind, const char* colour, std::string_view text) {
  std::string line = session.name + ": ";
  const bool coloured = colours(STDERR_FILENO);
  if (coloured) line += colour;
  line += kind;
  if (coloured) line += "\033[0m";
  line += ": ";
  line += printable(text, true);  // text of files may be in it
  line += '\n';
  std::cout.flush();  // in order, where both streams go to one place
  std::cerr << line;
}

// The same options, their descriptions in lines of this width.
po::options_description of_width(const po::options_description& options, const char* title,
                                 unsigned width) {
  po::options_description same(title, width, width / 2);
  for (const auto& option : options.options()) same.add(option);
  return same;
}

void print_help(const ToolInfo& info, const ToolOptions& options,
                const po::options_description& common) {
  // Boost's own 80 columns, or fewer where the terminal has fewer.
  const unsigned width = std::min(80U, terminal_width());
  std::cout << "Usage: " << info.name << ' ' << info.arguments << '\n' << info.purpose << "\n";
  po::options_description all;
  all.add(of_width(options.visible, "Options", width));
  all.add(of_width(common, "Common options", width));
  std::cout << all << '\n';
  std::cout << "Example: " << info.example << '\n';
  std::cout << (info.exit_codes != nullptr
                    ? info.exit_codes
                    : "Exit status: 0 fine, 1 wrong usage, 2 bad input, 3 finished but events were "
                      "lost or suspect,\n4 output could not be written.")
            << '\n';
}

// Splits off everything from the first positional argument on: Boost would look for options in it.
std::pair<std::vector<std::string>, std::vector<std::string>> split_command(
    int argc, char** argv, const po::options_description& all) {
  std::vector<std::string> options, command;
  int i = 1;
  for (; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (word.size() < 2 || word[0] != '-') break;
    options.push_back(word);
    // An option whose value is the next word takes that with it.
    const po::option_description* description = nullptr;
    if (word.rfind("--", 0) == 0) {
      if (word.find('=') == std::string::npos)
        description = all.find_nothrow(word.substr(2), false);
    } else if (word.size() == 2) {
      description = all.find_nothrow(word, false);
    }
    if (description != nullptr && description->semantic()->min_tokens() > 0 && i + 1 < argc) {
      options.emplace_back(argv[++i]);
    }
  }
  for (; i < argc; ++i) command.emplace_back(argv[i]);
  return {options, command};
}

// An option whose value may be left out takes one after '=' only, never the next word: Boost would.
void keep_next_words(std::vector<std::string>& words, const po::options_description& all) {
  const auto end = std::find(words.begin(), words.end(), "--");
  std::stable_partition(words.begin(), end, [&](const std::string& word) {
    if (!word.starts_with("--") || word.find('=') != std::string::npos) return true;
    const po::option_description* const option = all.find_nothrow(word.substr(2), false);
    return option == nullptr || option->semantic()->min_tokens() > 0 ||
           option->semantic()->max_tokens() == 0;
  });
}

// Boost says that there are too many words, but not which.
std::string too_many(const std::vector<std::string>& words, const po::options_description& all,
                     const ToolOptions& options) {
  const std::string& name = options.positional.name_for_position(0);
  po::positional_options_description any;
  any.add(name.c_str(), -1);
  const po::parsed_options parsed =
      po::command_line_parser(words).options(all).positional(any).run();
  std::size_t left = options.positional.max_total_count();
  for (const po::option& option : parsed.options) {
    if (option.position_key < 0) continue;
    for (const std::string& value : option.value) {
      if (left-- == 0) {
        return "only one " + name + " is taken, and \"" + value + "\" is another" +
               (name == "trace" ? " (elg_merge makes one of several)" : "");
      }
    }
  }
  return "only one " + name + " is taken";
}

}  // namespace

std::vector<std::string> words_of(const po::variables_map& options,
                                  const std::set<std::string>& without) {
  std::vector<std::string> words;
  for (const auto& [name, option] : options) {
    if (without.contains(name)) continue;
    words.push_back(name);
    const boost::any& value = option.value();
    if (const auto* text = boost::any_cast<std::string>(&value)) words.push_back(*text);
    if (const auto* n = boost::any_cast<std::size_t>(&value)) words.push_back(std::to_string(*n));
    if (const auto* list = boost::any_cast<std::vector<std::string>>(&value))
      words.insert(words.end(), list->begin(), list->end());
    if (const auto* number = boost::any_cast<double>(&value)) {
      char digits[32];
      words.emplace_back(digits, std::to_chars(digits, std::end(digits), *number).ptr);
    }
  }
  return words;
}

std::filesystem::path program_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  // The kernel loaded no dynamic linker: it is the linker that was started, and loaded us.
  const bool by_linker = ::getauxval(AT_BASE) == 0;
  fs::path program = by_linker ? fs::path() : fs::read_symlink("/proc/self/exe", error);
  if (program.empty()) {
    const auto* const name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    program = fs::canonical(name != nullptr ? name : "", error);
  }
  return program.empty() ? fs::path(".") : program.parent_path();
}

int run_tool(int argc, char** argv, const ToolInfo& info, const ToolOptions& options,
             const std::function<ExitCode(const po::variables_map&)>& body) {
  // Who reads our output through a pipe may stop early (`| head`): that ends us without a word,
  // also where somebody has told this process to ignore it.
  std::signal(SIGPIPE, SIG_DFL);
  return run_tool_with_status(argc, argv, info, options, [&](const po::variables_map& values) {
    return static_cast<int>(body(values));
  });
}

int run_tool_with_status(int argc, char** argv, const ToolInfo& info, const ToolOptions& options,
                         const std::function<int(const po::variables_map&)>& body) {
  remove_temporary_files_on_signals();
  session.name = info.name;
  po::options_description visible;
  visible.add(options.visible);
  po::options_description common("Common options");
  common.add_options()("quiet,q", "print errors only")("help,h", "print this text")(
      "version", "print the version");
  visible.add(common);
  po::options_description all;
  all.add(visible).add(options.hidden);
  // For the completion of shells, made when kojak is built; nothing for people.
  all.add_options()("option-table", "");
  constexpr int kFailed = static_cast<int>(ExitCode::kOutputFailed);
  try {
    po::variables_map values;
    try {
      std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
      std::vector<std::string> command;
      if (options.stop_at_positional) std::tie(words, command) = split_command(argc, argv, all);
      keep_next_words(words, all);
      po::parsed_options parsed(&all);
      try {
        parsed = po::command_line_parser(words)
                     .options(all)
                     .positional(options.positional)
                     .style(po::command_line_style::default_style &
                            ~po::command_line_style::allow_guessing)
                     .run();
      } catch (const po::too_many_positional_options_error&) {
        return static_cast<int>(usage_error(too_many(words, all, options)));
      }
      if (!command.empty()) {
        parsed.options.emplace_back(options.positional.name_for_position(0), command);
      }
      po::store(parsed, values);
      if (values.count("help") != 0) {
        print_help(info, options, common);
        return std::cout.flush() ? 0 : kFailed;
      }
      if (values.count("option-table") != 0) {
        print_option_table(std::cout, info, visible);
        return std::cout.flush() ? 0 : kFailed;
      }
      if (values.count("version") != 0) {
        std::cout << "kojak " << KOJAK_VERSION << '\n';
        return std::cout.flush() ? 0 : kFailed;
      }
      session.quiet = values.count("quiet") != 0;
      po::notify(values);
    } catch (const po::error& error) {
      return static_cast<int>(usage_error(error.what()));
    }
    int status = body(values);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) {
      print_error("standard output could not be written completely (is the disk full?)");
      status = kFailed;
    }
    return status;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& error) {
    print_error(std::string("internal error: ") + error.what());
  }
  return kFailed;
}

void print_error(const Error& error) {
  print_error(error.message());
}
ExitCode failed(const Error& error) {
  print_error(error);
  return error.code;
}
void print_error(std::string_view text) {
  message("error", "\033[1;31m", text);
}
void print_warning(std::string_view text) {
  if (!session.quiet) message("warning", "\033[1;33m", text);
}
void print_note(std::string_view text) {
  if (!session.quiet) message("note", "\033[1m", text);
}
std::optional<ExitCode> overwrites(const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs) {
  const Status status = keep_inputs(inputs, outputs);
  if (status) return std::nullopt;
  return failed(status.error());
}
ExitCode usage_error(std::string_view text) {
  print_error(std::string(text) + " (try '" + session.name + " --help')");
  return ExitCode::kUsage;
}
bool quiet() {
  return session.quiet;
}

bool colours(int fd) {
  const char* no = std::getenv("NO_COLOR");
  if (no != nullptr && *no != '\0') return false;
  const char* term = std::getenv("TERM");
  return ::isatty(fd) == 1 && term != nullptr && std::strcmp(term, "dumb") != 0;
}
std::string bold(std::string_view text, int fd) {
  if (!colours(fd)) return std::string(text);
  std::string marked = "\033[1m";
  marked += text;
  return marked += "\033[0m";
}

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)), total_(total), start_(std::chrono::steady_clock::now()) {
  last_ = start_;
  enabled_ = !session.quiet && ::isatty(STDERR_FILENO) == 1;
}

void Progress::draw(std::uint64_t done) {
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < std::chrono::seconds(2) || now - last_ < std::chrono::milliseconds(100)) {
    return;
  }
  last_ = now;
  shown_ = true;
  std::string line = "\r";
  line += printable(what_);
  line += ' ';
  if (total_ == 0) {
    line += format_count(done);
  } else {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
    constexpr std::size_t kWidth = 40;
    const auto full = static_cast<std::size_t>(part * kWidth);
    line += '[';
    line.append(full, '#').append(kWidth - full, '.');
    line += "] ";
    line += std::to_string(static_cast<int>(part * 100));
    line += " %";
  }
  line += "\033[K";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void Progress::finish() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = enabled_ = false;
}

std::uint64_t file_size(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  return static_cast<std::uint64_t>(info.st_size);
}

unsigned terminal_width(int fd, unsigned otherwise) {
  constexpr unsigned kNarrowest = 46, kWidest = 200;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    const char* const columns = std::getenv("COLUMNS");
    const unsigned long wanted = columns == nullptr ? 0 : std::strtoul(columns, nullptr, 10);
    if (wanted == 0) return otherwise;
    return static_cast<unsigned>(std::clamp<unsigned long>(wanted, kNarrowest, kWidest));
  }
  return std::clamp<unsigned>(size.ws_col, kNarrowest, kWidest);
}

}  // namespace kojak::cli

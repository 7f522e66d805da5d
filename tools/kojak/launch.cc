#include "tools/kojak/launch.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace kojak::run {
namespace {

constexpr const char* kEnvironmentList = "mca_base_env_list";

std::string in_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

std::string variable_of(const std::string& setting) {
  return setting.substr(0, setting.find('='));
}

class Rewriter {
 public:
  Rewriter(const MpiUse& use, const std::string& library, const std::vector<std::string>& settings)
      : use_(use), library_(library), settings_(settings) {}

  Result<Launch> run(const std::vector<std::string>& command) {
    if (!use_.launcher || use_.launched.empty()) {
      launch_.command = command;
      launch_.environment = settings_;
      return std::move(launch_);
    }
    const std::size_t first = *use_.launcher + 1;
    const std::vector<std::string> words(command.begin() + static_cast<std::ptrdiff_t>(first),
                                         command.end());
    launch_.command.assign(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(first));
    join_environment_list(words);
    append(launch_.command, use_.launched == "openmpi" ? rewritten(words) : hydra(words));
    if (failed_) return *failed_;
    if (use_.prrte) {
      launch_.environment.insert(launch_.environment.begin(), settings_.begin(), settings_.end());
    }
    return std::move(launch_);
  }

 private:
  using Words = std::vector<std::string>;

  static void append(Words& to, const Words& words) {
    to.insert(to.end(), words.begin(), words.end());
  }
  // The program's word, behind which nothing is the launcher's.
  static bool is_program(const std::string& word) {
    return !word.empty() && word[0] != '-' && !find_executable(word).empty();
  }
  static bool is_option(const std::string& word, const char* name) {
    return word == std::string("-") + name || word == std::string("--") + name;
  }
  // The user's value of a variable, with ours; nothing for a variable that we do not join.
  std::optional<std::string> joined(const std::string& name, const std::string& theirs) const {
    if (name == "LD_PRELOAD") return preload_value(library_, theirs);
    if (name == "ASAN_OPTIONS") return asan_options(theirs);
    return std::nullopt;
  }
  // NAME=VALUE, or NAME for the value in the environment.
  std::string joined(const std::string& setting) const {
    const std::string name = variable_of(setting);
    const std::string theirs =
        name.size() < setting.size() ? setting.substr(name.size() + 1) : in_environment(name);
    const auto value = joined(name, theirs);
    return value ? name + "=" + *value : setting;
  }

  // With such a list Open MPI takes no -x: our settings go there, too. The command's counts, else
  // the environment's.
  void join_environment_list(const Words& words) {
    if (use_.launched != "openmpi") return;
    for (std::size_t i = 0; i + 2 < words.size() && !is_program(words[i]); ++i) {
      listed_ = listed_ || (names_mca(words[i]) && words[i + 1] == kEnvironmentList);
    }
    const std::string variable = std::string("OMPI_MCA_") + kEnvironmentList;
    const std::string theirs = in_environment(variable);
    if (listed_ || theirs.empty()) return;
    listed_ = true;
    launch_.environment.push_back(variable + "=" + with_settings(theirs));
  }
  static bool names_mca(const std::string& word) {
    return is_option(word, "mca") || is_option(word, "gmca");
  }
  std::string with_settings(const std::string& list) const {
    std::string all;
    const auto add = [&](const std::string& setting) { all += (all.empty() ? "" : ";") + setting; };
    std::istringstream theirs(list);
    Words named;
    for (std::string setting; std::getline(theirs, setting, ';');) {
      if (setting.empty()) continue;
      add(joined(setting));
      named.push_back(variable_of(setting));
    }
    for (const std::string& setting : settings_) {
      const bool known = std::find(named.begin(), named.end(), variable_of(setting)) != named.end();
      if (!known || !joined(variable_of(setting), "")) add(setting);
    }
    return all;
  }

  // Open MPI's -x holds up to the next program (mpirun ... : ...).
  Words rewritten(const Words& words) {
    Words result;
    add_settings(result);
    bool options = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      result.push_back(word);
      if (word == ":") {
        options = true;
        add_settings(result);
        continue;
      }
      options = options && !is_program(word);
      if (!options) continue;
      if (is_option(word, "x") && i + 1 < words.size()) {
        result.push_back(joined(words[++i]));
      } else if (is_option(word, "app") && i + 1 < words.size()) {
        result.push_back(copied_list(words[++i]));
      } else if (names_mca(word) && i + 2 < words.size() && words[i + 1] == kEnvironmentList) {
        result.push_back(words[i + 1]);
        result.push_back(with_settings(words[i + 2]));
        i += 2;
      }
    }
    return result;
  }
  void add_settings(Words& words) const {
    if (listed_) return;
    for (const std::string& setting : settings_) append(words, {"-x", setting});
  }

  // MPICH's -genv holds for all programs, -env for one.
  Words hydra(const Words& words) const {
    Words result;
    for (const std::string& setting : settings_) {
      const std::string name = variable_of(setting);
      append(result, {"-genv", name, setting.substr(name.size() + 1)});
    }
    bool options = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      result.push_back(word);
      options = word == ":" || (options && !is_program(word));
      if (!options || !(is_option(word, "genv") || is_option(word, "env"))) continue;
      if (i + 2 >= words.size()) continue;
      result.push_back(words[i + 1]);
      result.push_back(joined(words[i + 1], words[i + 2]).value_or(words[i + 2]));
      i += 2;
    }
    return result;
  }

  // Open MPI takes nothing but the list then, no -x beside it either.
  std::string copied_list(const std::string& file) {
    std::ifstream in(file);
    if (!in) return file;  // the launcher says so
    auto folder = TemporaryFolder::create("/tmp", "kojak-");
    if (!folder) {
      fail(folder.error());
      return file;
    }
    launch_.folder.emplace(std::move(*folder));
    const std::string copy = launch_.folder->path() + "/programs";
    std::ofstream out(copy);
    for (std::string line; std::getline(in, line);) {
      std::istringstream text(line);
      Words words;
      for (std::string word; text >> word;) words.push_back(word);
      if (words.empty() || words[0][0] == '#') {
        out << line << '\n';
        continue;
      }
      bool first = true;
      for (const std::string& word : rewritten(words)) {
        out << (first ? "" : " ") << word;
        first = false;
      }
      out << '\n';
    }
    out.close();
    const bool blank = std::any_of(settings_.begin(), settings_.end(), [](const std::string& s) {
      return s.find_first_of(" \t\n") != std::string::npos;
    });
    Error error;
    error.file = file;
    error.code = ExitCode::kOutputFailed;
    if (blank) {
      error.reason = "a list of programs can hold no setting with a blank in it";
      error.remedy = "run kojak with -o DIR in a folder whose path has no blanks";
      fail(error);
    } else if (!out) {
      error.reason = "the list of programs could not be copied to " + copy;
      error.remedy = "see whether /tmp is full";
      fail(error);
    }
    return copy;
  }
  void fail(const Error& error) {
    if (!failed_) failed_ = error;
  }

  const MpiUse& use_;
  const std::string& library_;
  const std::vector<std::string>& settings_;
  Launch launch_;
  bool listed_ = false;  // in mca_base_env_list
  std::optional<Error> failed_;
};

}  // namespace

std::string preload_value(const std::string& library, const std::string& theirs) {
  return theirs.empty() ? library : library + ":" + theirs;
}

std::string asan_options(const std::string& theirs) {
  constexpr const char* kOption = "verify_asan_link_order";
  if (theirs.find(kOption) != std::string::npos) return theirs;
  return (theirs.empty() ? "" : theirs + ":") + kOption + "=0";
}

Result<Launch> make_launch(const std::vector<std::string>& command, const MpiUse& use,
                           const std::string& library, const std::vector<std::string>& settings) {
  return Rewriter(use, library, settings).run(command);
}

}  // namespace kojak::run

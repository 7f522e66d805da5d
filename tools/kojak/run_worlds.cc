#include "tools/kojak/run_worlds.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "epilog/format/text/printable.h"
#include "expert/cube/reader.h"
#include "tools/cli/cli.h"
#include "tools/cli/table.h"

namespace kojak::run {
namespace {

constexpr int kMostWorlds = 10000;
constexpr std::size_t kToldInFull = 3;
constexpr std::size_t kWidest = 40;  // of a command in the table

// What a command says besides its results.
std::string warnings_of(const std::string& said) {
  std::string text;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    const bool ours = line.find(": warning: ") != std::string::npos ||
                      line.find(": error: ") != std::string::npos;
    if (ours) text += line + '\n';
  }
  return text;
}

double waiting(const WorldReport& world) {
  return world.numbers ? world.numbers->waiting : 0;
}

}  // namespace

std::vector<WorldReport> worlds_of(const std::string& folder, const RunLines& lines) {
  std::vector<WorldReport> worlds;
  const auto add = [&](const std::string& place, bool spawned) {
    const bool there = std::any_of(worlds.begin(), worlds.end(),
                                   [&](const WorldReport& w) { return w.folder == place; });
    auto facts = there ? std::nullopt : read_run_facts(place);
    if (facts) worlds.push_back({place, std::move(*facts), spawned, std::nullopt, ""});
    return facts.has_value();
  };
  for (const RunLines::World& world : lines.worlds) add(world.folder, world.spawned);
  // Nothing was told: processes that do not see the file, or of another version.
  if (lines.worlds.empty() && add(folder, false)) {
    for (int i = 2; i < kMostWorlds && add(folder + "." + std::to_string(i), true); ++i) {
    }
  }
  return worlds;
}

void read_numbers(WorldReport& world) {
  const auto report = cube::read_report(world.folder + "/a.cube");
  if (!report) return;
  const auto run = run_of(*report);
  if (run) world.numbers = *run;
}

void print_worlds(std::vector<WorldReport> worlds) {
  std::stable_sort(worlds.begin(), worlds.end(), [](const WorldReport& a, const WorldReport& b) {
    return waiting(a) > waiting(b);
  });
  std::size_t told = 0;
  for (const WorldReport& world : worlds) {
    if (cli::quiet()) break;
    std::cerr << (told++ < kToldInFull ? world.said : warnings_of(world.said));
  }
  const bool analysed = std::any_of(worlds.begin(), worlds.end(),
                                    [](const WorldReport& w) { return w.numbers.has_value(); });
  cli::print_note(std::to_string(worlds.size()) + " runs of MPI in this command, " +
                  (analysed ? "the one with most waiting first; the report of each is a.cube (open "
                              "it with CUBE), as a page a.html (open it with a browser):"
                            : "in the order in which they began:"));
  if (cli::quiet()) return;
  using cli::Align;
  std::vector<cli::Table::Column> columns = {
      {"processes"}, {"in", Align::kLeft}, {"command", Align::kLeft}};
  if (analysed) columns.insert(columns.begin(), {{"waiting"}, {"time"}});
  cli::Table table(columns);
  const auto seconds = [](const WorldReport& world, double Run::*value) {
    return world.numbers ? cli::format_seconds((*world.numbers).*value, 3) + " s" : "-";
  };
  for (const WorldReport& world : worlds) {
    std::string command = world.facts.command.empty() ? world.facts.program : world.facts.command;
    command = printable_name(command, kWidest) + (world.spawned ? " (spawned)" : "");
    std::vector<std::string> cells = {std::to_string(world.facts.processes), world.folder, command};
    if (analysed) {
      cells.insert(cells.begin(), {seconds(world, &Run::waiting), seconds(world, &Run::time)});
    }
    table.add(std::move(cells));
  }
  table.print(std::cerr);
}

}  // namespace kojak::run

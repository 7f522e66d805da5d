#include "expert/page/verdict/verdict_json.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace kojak::html {
namespace {

namespace fs = std::filesystem;

long json_position(std::size_t index) {
  return index == cube::kNone ? -1 : static_cast<long>(index);
}

Blocks blocks_of(const fs::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".py" || ending == ".pyx") return Blocks::kPython;
  const bool fortran = ending.size() > 1 && (ending[1] == 'f' || ending[1] == 'F');
  return fortran ? Blocks::kFortran : Blocks::kBraces;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

void add_rows(Json& json, const GroupSource& source) {
  if (source.rows.empty()) return;
  json.key("source").begin_object().member("file", source.file).key("rows").begin_array();
  for (const ExcerptRow& row : source.rows) {
    json.begin_array().value(row.line).value(row.mark).value(row.note).end_array();
  }
  json.end_array().end_object();
}

void add_card(Json& json, const GroupCard& card, const ChainSteps* chain,
              const GroupSource* source) {
  json.begin_object().member("number", card.number).member("title", card.title);
  json.member("who", card.who).member("place", card.place);
  json.member("seconds", card.seconds).member("waits", card.waits).member("share", card.share);
  json.member("gain", card.gain).member("gainShare", card.gain_share);
  json.member("gainWords", card.gain_words).member("how", card.how);
  json.member("call", json_position(card.call_node));
  if (card.in_calls) json.member("inCalls", true);
  const auto rows = [&](const char* name, const std::vector<std::size_t>& some) {
    json.key(name).begin_array();
    for (const std::size_t row : some) json.value(row);
    json.end_array();
  };
  if (chain != nullptr) {
    rows("culprits", card.culprits);
    rows("victims", card.victims);
  }
  if (source != nullptr) add_rows(json, *source);
  if (chain != nullptr) add_chain(json, *chain);
  json.key("patterns").begin_array();
  for (const auto& [pattern, call, seconds] : card.patterns) {
    json.begin_array().value(pattern).value(json_position(call)).value(seconds).end_array();
  }
  json.end_array();
  if (!card.profile.empty()) {
    json.key("profile").begin_array();
    for (const ProfileColumn& column : card.profile) {
      json.begin_array().value(column.name).value(column.makes_wait).value(column.waits);
      json.end_array();
    }
    json.end_array().member("profileOf", card.profile_of);
  }
  if (!card.parts.empty()) {
    json.key("parts").begin_array();
    for (const GroupCard& inside : card.parts) add_card(json, inside, nullptr, nullptr);
    json.end_array();
  }
  json.end_object();
}

}  // namespace

void add_chain(Json& json, const ChainSteps& chain) {
  if (chain.steps.empty()) return;
  json.key("chain").begin_array();
  for (const Step& step : chain.steps) {
    json.begin_object().member("row", step.row).member("begin", step.begin);
    json.member("end", step.end).member("call", json_position(step.call_node));
    json.member("words", step.words);
    if (!step.lead.empty()) json.member("lead", step.lead).member("rest", step.rest);
    if (step.cause) json.member("cause", true);
    json.end_object();
  }
  json.end_array();
  if (chain.left_out > 0) json.member("leftOut", chain.left_out);
}

std::vector<GroupSource> read_excerpts(
    const VerdictPart& verdict, const std::vector<std::string>& files,
    std::vector<SourcePlace>& places, const SourceSearch& search,
    const std::function<std::size_t(const std::string&)>& number) {
  std::vector<GroupSource> found(verdict.groups.size());
  const std::map<std::size_t, fs::path> paths = find_source(files, places, search.folders);
  for (std::size_t g = 0; g < verdict.groups.size(); ++g) {
    const ExcerptLines& lines = verdict.groups[g].lines;
    if (lines.file.empty() || (lines.hot.empty() && lines.before == 0)) continue;
    found[g].file = number(lines.file);
    const auto path = paths.find(found[g].file);
    if (path == paths.end()) continue;
    found[g].rows = excerpt_of(lines_of(path->second), lines, blocks_of(path->second));
    for (const ExcerptRow& row : found[g].rows) {
      if (row.line > 0) places.push_back({found[g].file, row.line, {}});
    }
  }
  return found;
}

void add_verdict(Json& json, const TracePart& part, const std::vector<GroupSource>& source) {
  const VerdictPart& verdict = part.verdict;
  if (verdict.sentences.empty()) return;
  json.key("verdict").begin_object().key("sentences").begin_array();
  for (const SaidSentence& sentence : verdict.sentences) {
    json.begin_object().member("is", sentence.is).key("pieces").begin_array();
    for (const SaidPiece& piece : sentence.pieces) {
      json.begin_array().value(piece.text).value(piece.is).end_array();
    }
    json.end_array().end_object();
  }
  json.end_array();
  if (verdict.group) json.member("group", *verdict.group);
  json.end_object();
  json.key("bar").begin_object().member("of", verdict.bar_of).key("parts").begin_array();
  for (const BarPart& bar : verdict.bar) {
    json.begin_object().member("kind", bar.kind).member("name", bar.name);
    json.member("share", bar.share).member("time", bar.time).member("seconds", bar.seconds);
    json.end_object();
  }
  json.end_array().end_object();
  json.key("efficiency").begin_array();
  for (const EfficiencyLine& row : verdict.efficiency) {
    json.begin_object().member("depth", row.depth).member("name", row.name);
    json.member("words", row.words).member("share", row.share).member("value", row.value);
    json.end_object();
  }
  json.end_array();
  if (!verdict.grouped) return;
  json.member("groupsSaid", verdict.said).member("waits", part.waits);
  if (!verdict.chain_said.empty()) json.member("chainSaid", verdict.chain_said);
  json.key("groups").begin_array();
  for (std::size_t g = 0; g < verdict.groups.size(); ++g) {
    add_card(json, verdict.groups[g], &part.chains[g], g < source.size() ? &source[g] : nullptr);
  }
  json.end_array();
  json.key("path").begin_object();
  const auto column = [&](const char* name, auto get) {
    json.key(name).begin_array();
    for (const PathPart& along : part.path) json.value(get(along));
    json.end_array();
  };
  column("row", [](const PathPart& along) { return along.row; });
  column("begin", [](const PathPart& along) { return along.begin; });
  column("end", [](const PathPart& along) { return along.end; });
  json.end_object();
}

}  // namespace kojak::html

#include "expert/page/trace_part.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "epilog/format/merge_properties.h"
#include "expert/findings/last_call_words.h"
#include "expert/findings/object_words.h"
#include "expert/page/instances.h"
#include "expert/page/trace_view.h"

namespace kojak::html {
namespace {

constexpr std::size_t kLongestText = 480'000'000;

// What windows and communicators are called, and where they were created, as far as the analysis
// knows.
void name_objects(const expert::Report& analysis, TraceContent& content) {
  const auto site = [&](const auto& created, std::uint32_t id) {
    const auto call = created.find(id);
    const std::size_t path = call == created.end() ? expert::kNone : analysis.path_at(call->second);
    return path == expert::kNone
               ? std::string()
               : expert::site_name(analysis.definitions(), analysis.program_site(path));
  };
  const auto name = [&](expert::Operation::Object object, std::uint32_t id) {
    return expert::object_words(analysis.definitions(), {.object = object, .id = id}, {});
  };
  for (WindowName& window : content.windows) {
    window.name = name(expert::Operation::Object::kWindow, window.id);
    window.site = site(analysis.waits().windows, window.id);
  }
  for (ProcessGroup& group : content.communicators) {
    group.name = name(expert::Operation::Object::kCommunicator, group.id);
    group.site = site(analysis.waits().communicators, group.id);
  }
}

}  // namespace

TracePart trace_part(const expert::Report& analysis, TraceContent content,
                     const cube::Report& report, std::size_t max_bytes) {
  TracePart part;
  part.damage = content.damage;
  add_instances(analysis, part);
  if (const auto& causes = analysis.root_causes()) part.waits = causes->waits;
  for (const expert::Deadlock& deadlock : analysis.last_calls().deadlocks) {
    part.deadlocks.push_back(expert::deadlock_words(analysis, deadlock));
  }
  if (std::string words = expert::verdict_words(analysis); !words.empty()) {
    part.deadlocks.push_back(std::move(words));
  }
  if (const std::string* folders =
          analysis.definitions().properties.find(run_property::kCompiledIn)) {
    std::istringstream list(*folders);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (folder.starts_with('/')) part.compiled_in.emplace_back(folder);
    }
  }
  const auto since_begin = [&](auto& there) {
    there.begin -= content.begin;
    there.end -= content.begin;
  };
  for (Instance& instance : part.instances) {
    since_begin(instance);
    for (Step& step : instance.chain.steps) since_begin(step);
  }
  for (ChainSteps& chain : part.chains) {
    for (Step& step : chain.steps) since_begin(step);
  }
  for (PathPart& along : part.path) since_begin(along);
  for (std::uint32_t p = 0; p < analysis.numbered_paths(); ++p) {
    content.path_nodes.push_back(analysis.path_at(p));
  }
  name_objects(analysis, content);
  // Base64 makes four bytes of three; browsers take no longer texts than that.
  const std::size_t room = std::min<std::size_t>(max_bytes / 3 * 2, kLongestText);
  part.packed = pack_trace(std::move(content), report, room / 4 * 3);
  return part;
}

}  // namespace kojak::html

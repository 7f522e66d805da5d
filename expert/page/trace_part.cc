#include "expert/page/trace_part.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "epilog/format/merge_properties.h"
#include "expert/findings/last_call_words.h"
#include "expert/page/instances.h"
#include "expert/page/trace_view.h"
#include "expert/profile/store_places.h"

namespace kojak::html {
namespace {

constexpr std::size_t kLongestText = 480'000'000;

// Where windows and communicators were created, as far as the analysis knows.
void name_sites(const expert::Report& analysis, TraceContent& content) {
  const expert::StorePlaces places(analysis);
  const auto site = [&](const auto& created, std::uint32_t id) {
    const auto call = created.find(id);
    const std::size_t path = call == created.end() ? expert::kNone : places.call_path(call->second);
    return path == expert::kNone
               ? std::string()
               : expert::site_name(analysis.definitions(), analysis.program_site(path));
  };
  for (WindowName& window : content.windows) {
    window.site = site(analysis.waits().windows, window.id);
  }
  for (ProcessGroup& group : content.communicators) {
    group.site = site(analysis.waits().communicators, group.id);
  }
}

}  // namespace

TracePart trace_part(const expert::Report& analysis, TraceContent content,
                     const cube::Report& report, std::size_t max_bytes) {
  Instances found = instances_of(analysis, report);
  TracePart part;
  part.damage = content.damage;
  part.instances = std::move(found.instances);
  part.partners = std::move(found.partners);
  part.callers = std::move(found.callers);
  part.last_calls = std::move(found.last_calls);
  part.failed_calls = std::move(found.failed_calls);
  part.causes = std::move(found.causes);
  part.path = std::move(found.path);
  if (const auto& causes = analysis.root_causes()) {
    part.further_causes = causes->causes.size() - part.causes.size();
    part.waits = causes->waits;
  }
  const expert::StorePlaces places(analysis);
  for (const expert::Deadlock& deadlock : analysis.last_calls().deadlocks) {
    part.deadlocks.push_back(expert::deadlock_words(analysis, places, deadlock));
  }
  if (std::string words = expert::verdict_words(analysis, places); !words.empty()) {
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
  for (CauseLine& cause : part.causes) {
    for (Step& step : cause.chain.steps) since_begin(step);
  }
  for (PathPart& along : part.path) since_begin(along);
  content.path_nodes = std::move(found.nodes);
  name_sites(analysis, content);
  // Base64 makes four bytes of three; browsers take no longer texts than that.
  const std::size_t room = std::min<std::size_t>(max_bytes / 3 * 2, kLongestText);
  part.packed = pack_trace(std::move(content), report, room / 4 * 3);
  return part;
}

}  // namespace kojak::html

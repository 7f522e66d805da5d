#include "expert/causes/what_is_done.h"

#include <algorithm>

#include "epilog/format/openmp_constructs.h"
#include "epilog/format/python_code.h"
#include "expert/sums/samples.h"

namespace kojak::expert {
namespace {

constexpr char kSeparator = '\0';  // that no name has

void add_part(std::string& key, std::string_view part) {
  key += part;
  key += kSeparator;
}

}  // namespace

std::string WhatIsDone::function_name(RegionId function) const {
  const RegionDef* def = region(function);
  return def == nullptr ? std::string() : def->name;
}

double WhatIsDone::sample_interval() const {
  return definitions_ == nullptr ? 0 : expert::sample_interval(*definitions_);
}

std::string WhatIsDone::function_key(RegionId function) const {
  const RegionDef* def = region(function);
  if (def == nullptr) return {};
  std::string key;
  const bool is_template = def->name.find('<') != std::string::npos;
  if (is_template && !def->file.empty() && !is_absent(def->begin)) {
    add_part(key, "template");
    add_part(key, def->file);
    add_part(key, std::to_string(raw(def->begin)));
    return key;
  }
  add_part(key, def->name);
  add_part(key, def->file);
  return key;
}

std::string WhatIsDone::call_key(CallPathIndex call) const {
  const earl::CallPath* at = path(call);
  if (at == nullptr) return call == kNoCallPath ? std::string() : std::to_string(call);
  std::string key;
  add_part(key, function_name(at->region));
  if (const CallSiteDef* from = site(at->csite); from != nullptr) {
    add_part(key, site_name(*definitions_, at->csite));
    add_part(key, function_name(from->left));
  }
  return key;
}

std::string WhatIsDone::call_at_end(const Stretch& stretch) const {
  return call_key(stretch.after);
}

std::vector<CallerFrame> WhatIsDone::chain_of(CallPathIndex call) const {
  std::vector<CallerFrame> chain;
  const earl::CallPath* at = path(call);
  const CallSiteDef* from = at == nullptr ? nullptr : site(at->csite);
  if (from == nullptr) return chain;
  if (region(from->left) != nullptr) chain.push_back({from->left, at->csite});
  definitions_->for_each_caller(*from, [&](CallSiteId id, const CallSiteDef& caller) {
    if (region(caller.left) != nullptr) chain.push_back({caller.left, id});
  });
  return chain;
}

void WhatIsDone::add_computing(const Stretch& stretch, DoneThere& done) const {
  const earl::CallPath* open = path(stretch.path);
  const CallPathIndex end = stretch.after != kNoCallPath ? stretch.after : stretch.before;
  const std::vector<CallerFrame> after = chain_of(end);
  const auto callers_from = [&](std::size_t first) {
    done.callers.assign(after.rbegin(), after.rend() - static_cast<std::ptrdiff_t>(first));
  };
  if (open != nullptr && !is_absent(open->parent)) {
    done.function = open->region;
    // In a construct of OpenMP it is the function that begins it which computes.
    const RegionDef* def = region(open->region);
    const CallSiteDef* from = site(open->csite);
    if (def != nullptr && is_omp(def->type) && from != nullptr && region(from->left) != nullptr) {
      done.function = from->left;
    }
    for (const earl::CallPath* at = open; at != nullptr && !is_absent(at->parent);) {
      const earl::CallPath* above = path(raw(at->parent));
      if (above == nullptr || is_absent(above->parent)) {
        const CallSiteDef* first = site(at->csite);
        if (first != nullptr && region(first->left) != nullptr) {
          done.callers.push_back({first->left, at->csite});
        }
      } else {
        done.callers.push_back({above->region, at->csite});
      }
      at = above;
    }
    std::reverse(done.callers.begin(), done.callers.end());
    return;
  }
  // Only call sites tell of functions: the innermost one that both calls come from. Before the
  // first call and behind the last one it is only known that `main` goes on.
  const bool both = stretch.before != kNoCallPath && stretch.after != kNoCallPath;
  const std::vector<CallerFrame> before = chain_of(stretch.before);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::string name = function_name(after[i].function);
    const auto same = [&](const CallerFrame& f) { return function_name(f.function) == name; };
    const bool holds =
        both ? std::any_of(before.begin(), before.end(), same) : name == std::string_view("main");
    if (!holds) continue;
    done.function = after[i].function;
    return callers_from(i + 1);
  }
}

DoneThere WhatIsDone::of(const Stretch& stretch) const {
  DoneThere done;
  add_part(done.key, std::to_string(static_cast<int>(stretch.kind)));
  switch (stretch.kind) {
    case Stretch::Kind::kComputing:
      add_computing(stretch, done);
      add_part(done.key, function_key(done.function));
      done.key += call_at_end(stretch);
      break;
    case Stretch::Kind::kCall: {
      // What comes out of a library was called as the library's function.
      const earl::CallPath* const out = path(stretch.path);
      const earl::CallPath* const above = out == nullptr ? nullptr : path(raw(out->parent));
      const RegionDef* const library = above == nullptr ? nullptr : region(above->region);
      const bool of_library = library != nullptr && library->type == kLibraryFunction;
      const CallPathIndex called = of_library ? raw(out->parent) : stretch.path;
      done.key += call_key(called);
      done.callers = chain_of(called);
      std::reverse(done.callers.begin(), done.callers.end());
      if (const earl::CallPath* call = path(called)) done.function = call->region;
      break;
    }
    default:
      break;
  }
  return done;
}

DoneThere WhatIsDone::sampled(CallSiteId at) const {
  DoneThere done;
  if (definitions_ == nullptr) return done;
  done.place = sampled_place(*definitions_, at);
  const CallSiteDef* def = site(done.place);
  if (def == nullptr || region(def->left) == nullptr) return done;
  // Which of the program's functions that was the lines of its calls tell better.
  if (function_name(def->left) == kPythonCode) return {};
  done.function = def->left;
  add_part(done.key, "sampled");
  add_part(done.key, function_key(done.function));
  definitions_->for_each_caller(*def, [&](CallSiteId id, const CallSiteDef& caller) {
    done.callers.push_back({caller.left, id});
  });
  std::reverse(done.callers.begin(), done.callers.end());
  return done;
}

}  // namespace kojak::expert

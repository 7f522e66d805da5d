#include "expert/ends/unbegun.h"

#include <algorithm>
#include <set>

namespace kojak::expert {
namespace {

bool is_group_call(const MpiFunction* function) {
  return function != nullptr &&
         (function->role == MpiRole::kCommCreate || function->role == MpiRole::kFinalize ||
          function->cls == MpiClass::kIo);
}

std::string missing_ranks(const earl::CollectiveInstance& instance, const CommDef* comm) {
  if (comm == nullptr) return {};
  std::set<std::uint32_t> missing(comm->ranks.begin(), comm->ranks.end());
  missing.insert(comm->remote.begin(), comm->remote.end());
  missing.erase(kAbsent);
  for (const earl::CollectiveMember& m : instance.members) missing.erase(raw(m.call.process));
  constexpr std::size_t kNamed = 4;
  std::string text;
  std::size_t named = 0;
  for (const std::uint32_t rank : missing) {
    if (named == kNamed) return text + " and " + std::to_string(missing.size() - kNamed) + " more";
    text += (named++ == 0 ? "" : ", ") + std::to_string(rank);
  }
  if (text.empty()) return text;
  return (missing.size() == 1 ? "rank " : "ranks ") + text;
}

// Whether the member's wait can have been for others.
bool depends(const earl::CollectiveInstance& instance, const earl::CollectiveMember& member) {
  if (!instance.begun) return true;  // it came through the call, which all make together
  if (!member.awaited || instance.function == nullptr) return member.awaited;
  const bool root = raw(instance.root) == raw(member.call.process);
  switch (instance.function->role) {
    case MpiRole::kOneToAll:
      return !root;
    case MpiRole::kAllToOne:
      return root;
    case MpiRole::kPrefix:
      return member.rank > 0;
    default:
      return true;
  }
}

}  // namespace

void Unbegun::add(const earl::CollectiveInstance& instance) {
  if (instance.members.empty() || (!instance.begun && !is_group_call(instance.function))) return;
  const earl::OpenCall& call = instance.members.front().call;
  const RegionDef* const region = definitions_.regions.find(call.region);
  std::string name = region == nullptr ? "an unknown call" : region->name;
  const MpiRole role = call.role();
  if (instance.function != nullptr && (role == MpiRole::kStart || role == MpiRole::kStartall)) {
    name += " of " + std::string(instance.function->name);
  }
  const bool waited =
      std::any_of(instance.members.begin(), instance.members.end(),
                  [&](const earl::CollectiveMember& m) { return depends(instance, m); });
  Kind& kind = kinds_[waited ? 1 : 0][{name, raw(instance.com)}];
  if (kind.count++ == 0)
    kind.missing = missing_ranks(instance, definitions_.comms.find(instance.com));
}

std::uint64_t Unbegun::count(bool waited) const {
  std::uint64_t sum = 0;
  for (const auto& [where, kind] : kinds_[waited ? 1 : 0]) sum += kind.count;
  return sum;
}

std::string Unbegun::words(bool waited) const {
  constexpr std::size_t kNamed = 3;
  const Kinds& kinds = kinds_[waited ? 1 : 0];
  std::vector<Kinds::const_iterator> order;
  for (auto it = kinds.begin(); it != kinds.end(); ++it) order.push_back(it);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second.count > b->second.count; });
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kNamed); ++i) {
    const auto& [where, kind] = *order[i];
    text += (i == 0 ? "" : "; ") + where.first + " on communicator " + std::to_string(where.second);
    if (!kind.missing.empty()) text += ", not by " + kind.missing;
    if (kind.count > 1) text += " (first of " + std::to_string(kind.count) + ")";
  }
  if (order.size() > kNamed) text += "; and others";
  return text;
}

}  // namespace kojak::expert

#include "earl/detail/group_table.h"

namespace kojak::earl::detail {

const GroupInfo* GroupTable::make(CommId com) {
  const CommDef* def = trace_.definitions().comms.find(com);
  if (def == nullptr) return nullptr;
  if (const auto it = far_.find(com); it != far_.end()) return it->second.get();
  auto info = std::make_unique<GroupInfo>();
  info->def = def;
  info->ranks = RankIndex(*def);
  for (const auto* list : {&def->ranks, &def->remote}) {
    for (const std::uint32_t rank : *list) {
      if (present(static_cast<ProcessId>(rank))) ++info->present;
    }
  }
  const GroupInfo* const result = info.get();
  if (raw(com) > 2 * trace_.definitions().comms.size() + 64) {  // a hostile number
    far_[com] = std::move(info);
  } else {
    if (raw(com) >= made_.size()) made_.resize(raw(com) + 1);
    made_[raw(com)] = std::move(info);
  }
  return result;
}

}  // namespace kojak::earl::detail

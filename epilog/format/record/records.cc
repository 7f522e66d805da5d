#include "epilog/format/record/records.h"

#include <array>
#include <string_view>

namespace kojak {
namespace {

struct Names {
  std::array<const char*, 256> by_type{};
  Names() {
    for (int type = 0; type < 256; ++type) {
      by_type[static_cast<std::size_t>(type)] = "";
      dispatch_record(static_cast<std::uint8_t>(type),
                      [&]<class R>() { by_type[static_cast<std::size_t>(type)] = R::kName; });
    }
  }
};

const Names& names() {
  static const Names instance;
  return instance;
}

}  // namespace

std::string_view record_name(std::uint8_t type) {
  return names().by_type[type];
}

std::uint8_t record_type(std::string_view name) {
  if (name.empty()) return 0;
  for (std::size_t type = 0; type < 256; ++type) {
    if (name == names().by_type[type]) return static_cast<std::uint8_t>(type);
  }
  return 0;
}

}  // namespace kojak

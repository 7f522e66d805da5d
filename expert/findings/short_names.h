// Names of a program where there is little room for them.
//
// Pure functions; nothing fails; any thread. What is cut is also printable.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kojak::expert {

// Characters, each of which takes a column.
std::size_t width_of(std::string_view text);
// At most `room` characters: "..." stands for the middle. The end says more and gets more.
std::string cut_middle(std::string_view text, std::size_t room);
// The same of a name: template arguments become "..." from inside out, then the middle goes. The
// last component stays as long as there is room.
std::string shortened_name(std::string_view name, std::size_t room);

}  // namespace kojak::expert

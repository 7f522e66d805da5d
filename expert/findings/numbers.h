// Times and shares as sentences and the terminal's short lines have them: two significant digits.
//
// Pure functions; nothing fails; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kojak::expert {

// "0.16 s", "1.8 s", "31 s", "0.061 s"; below 1 ms "0.4 ms", "12 us"; from 600 s on "14 min", from
// 2 h on "3.4 h".
std::string short_time(double seconds);
// "1.1 of 2.0 s": two of them in the unit of the second.
std::string short_times(double part, double whole);
// "23 %", "<1 %", ">99 %" where it is not all.
std::string short_share(double part, double whole);
// Whether a word is a unit that stays with the number before it: "s", "ms", "%" ...
bool is_unit(std::string_view word);
// Whole parts of `whole` by largest remainder: what is printed adds up to it. Of those that are not
// worth one (less than `least` of the sum) nothing; each other one has at least one.
std::vector<unsigned> whole_parts(std::span<const double> parts, unsigned whole, double least);

}  // namespace kojak::expert

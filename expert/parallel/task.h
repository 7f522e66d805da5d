// What an analysis is to do, in words that are equal where the task is.
#pragma once

#include <string>
#include <vector>

namespace kojak::parallel {

// Of the command's words, and names, sizes and times of the traces that `input` is or holds. What
// cannot be looked at is its name.
std::string task_of(const std::vector<std::string>& command, const std::string& input);

}  // namespace kojak::parallel

// From where on something is said: every threshold of what a report says of a program.
#pragma once

namespace kojak::expert {

// Of the time that shares are of: a pattern that takes less is not worth a look, a wait that takes
// less not worth a line.
inline constexpr double kWorthLooking = 0.01;
inline constexpr double kWorthListing = 0.0005;
// Of the same: a kind of calls that takes so much, with no wait found there, is named.
inline constexpr double kLargeConsumer = 0.05;
// Of all waiting, or of the run: a cause that costs, or whose gain is, less is worth no sentence.
inline constexpr double kWorthACause = 0.01;
// Of the time of a thread, or of all: without a processor.
inline constexpr double kProcessorNote = 0.01, kProcessorWarning = 0.05;
// Of the longest wait of an instance, for which the one that it was for had no processor.
inline constexpr double kWaitWithoutProcessor = 0.05;
// Two runs of one program differ by so much by themselves: of the run's time, and of a value.
inline constexpr double kNoiseOfRun = 0.01, kNoiseOfValue = 0.05;

// Of the largest waiting for a group one in so many: who waits less is not named.
inline constexpr int kOneInVictims = 20;
// Of the run: a gain that is less is none to speak of.
inline constexpr double kGainToSay = 0.005;
// Of the waiting: what has no cause and is so much is said.
inline constexpr double kNotAttributedToSay = 0.2;
// Of the bar: a part that is less has no letter and no figure.
inline constexpr double kPartOfBar = 0.005;
// Processors were missing: of all time, or of what the first group took longer.
inline constexpr double kProcessorsMissing = 0.05, kProcessorsMissingThere = 0.2;
// Of the mean of the others' work in a function, against one's own: nothing.
inline constexpr double kNothingOfIt = 0.01;

}  // namespace kojak::expert

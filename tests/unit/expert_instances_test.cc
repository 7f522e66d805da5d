// The most severe instances of each pattern: which are kept, in which order.
#include <gtest/gtest.h>

#include "expert/worst_instances.h"

namespace kojak::expert {
namespace {

PatternInstance instance(MetricIndex metric, double waiting, double enter) {
  return {metric, 0, 0, Seconds{waiting}, Seconds{enter}, Seconds{enter + waiting}};
}

TEST(WorstInstances, KeepsTheLongestOfEachMetric) {
  WorstInstances worst(2);
  for (const double waiting : {3.0, 1.0, 5.0, 4.0, 2.0}) worst.add(instance(7, waiting, waiting));
  worst.add(instance(2, 0.5, 0));
  const std::vector<PatternInstance> sorted = worst.sorted();
  ASSERT_EQ(sorted.size(), 3u);
  EXPECT_EQ(sorted[0].metric, 2u);
  EXPECT_EQ(sorted[1].waiting.value, 5);
  EXPECT_EQ(sorted[2].waiting.value, 4);
}

TEST(WorstInstances, OfEqualOnesTheFirstStays) {
  WorstInstances worst(1);
  worst.add(instance(0, 1, 10));
  worst.add(instance(0, 1, 20));
  ASSERT_EQ(worst.sorted().size(), 1u);
  EXPECT_EQ(worst.sorted()[0].enter.value, 10);
  WorstInstances both(2);
  both.add(instance(0, 1, 20));
  both.add(instance(0, 1, 10));
  EXPECT_EQ(both.sorted()[0].enter.value, 10);
}

TEST(WorstInstances, NoneAreKeptIfNoneAreWanted) {
  WorstInstances worst(0);
  worst.add(instance(0, 1, 0));
  EXPECT_TRUE(worst.sorted().empty());
}

}  // namespace
}  // namespace kojak::expert

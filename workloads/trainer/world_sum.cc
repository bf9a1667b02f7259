// WorldSum: the flat sum, and the selection by the options.
#include "workloads/trainer/world_sum.h"

#include <algorithm>

#include "workloads/trainer/collectives.h"

namespace trainer {

namespace {

class FlatSum : public WorldSum {
 public:
  explicit FlatSum(Collectives& world) : world_(world) {}
  void sum(int64_t* numbers, size_t count) override { world_.sum(numbers, count); }
  void sum(float* numbers, size_t count) override { world_.sum(numbers, count); }

 private:
  Collectives& world_;
};

}  // namespace

std::unique_ptr<WorldSum> flat_sum(Collectives& world) { return std::make_unique<FlatSum>(world); }

std::unique_ptr<WorldSum> make_world_sum(const Options& options, Collectives& world) {
  if (options.node_size > 0) return hierarchical_sum(world, options.node_size, options.leaders_call_world);
  const auto& reversed = options.axes_reversed_on;
  if (options.grid[0] > 0)
    return grid_sum(world, options.grid,
                    std::find(reversed.begin(), reversed.end(), options.rank) != reversed.end());
  return flat_sum(world);
}

}  // namespace trainer

// grid_sum: three all-reduces, along the axes of a tensor x pipeline x data grid.
#include <algorithm>
#include <vector>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/world_sum.h"

namespace trainer {

namespace {

constexpr const char* kAxes[] = {"tensor", "pipeline", "data"};

class GridSum : public WorldSum {
 public:
  // All ranks make all groups of all axes in the same order, and keep the groups that they are in.
  GridSum(Collectives& world, std::array<int, 3> shape, bool reversed) {
    int stride = 1;
    for (size_t axis = 0; axis < shape.size(); stride *= shape[axis++])
      for (int first = 0; first < world.size(); ++first) {
        if (first / stride % shape[axis] != 0) continue;  // not the first of its line
        std::vector<int> line;
        for (int i = 0; i < shape[axis]; ++i) line.push_back(first + i * stride);
        auto group = world.group(std::string(kAxes[axis]) + std::to_string(first), line);
        if (group) axes_.push_back(std::move(group));
      }
    if (reversed) std::reverse(axes_.begin(), axes_.end());
  }

  void sum(int64_t* numbers, size_t count) override {
    for (const auto& axis : axes_) axis->sum(numbers, count);
  }
  void sum(float* numbers, size_t count) override {
    for (const auto& axis : axes_) axis->sum(numbers, count);
  }

 private:
  std::vector<std::unique_ptr<Collectives>> axes_;
};

}  // namespace

std::unique_ptr<WorldSum> grid_sum(Collectives& world, std::array<int, 3> shape, bool reversed) {
  return std::make_unique<GridSum>(world, shape, reversed);
}

}  // namespace trainer

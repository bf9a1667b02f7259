// hierarchical_sum: within the node, between the leaders, and back into the node.
#include <vector>

#include "workloads/trainer/collectives.h"
#include "workloads/trainer/world_sum.h"

namespace trainer {

namespace {

class HierarchicalSum : public WorldSum {
 public:
  HierarchicalSum(Collectives& world, int node_size, bool leaders_call_world)
      : world_(world), leaders_call_world_(leaders_call_world) {
    std::vector<int> leaders;
    for (int first = 0; first < world.size(); first += node_size) {
      std::vector<int> node;
      for (int r = first; r < std::min(first + node_size, world.size()); ++r) node.push_back(r);
      if (auto mine = world.group("node" + std::to_string(first), node)) node_ = std::move(mine);
      leaders.push_back(first);
    }
    leaders_ = world.group("leaders", leaders);
  }

  void sum(int64_t* numbers, size_t count) override { sum_all(numbers, count); }
  void sum(float* numbers, size_t count) override { sum_all(numbers, count); }

 private:
  template <typename T>
  void sum_all(T* numbers, size_t count) {
    node_->sum(numbers, count);
    if (leaders_) (leaders_call_world_ ? world_ : *leaders_).sum(numbers, count);
    node_->broadcast(numbers, count * sizeof(T), 0);
  }

  Collectives& world_;
  bool leaders_call_world_;
  std::unique_ptr<Collectives> node_, leaders_;  // leaders_: null on a rank that leads no node
};

}  // namespace

std::unique_ptr<WorldSum> hierarchical_sum(Collectives& world, int node_size, bool leaders_call_world) {
  return std::make_unique<HierarchicalSum>(world, node_size, leaders_call_world);
}

}  // namespace trainer

// WorldSum: one vector of numbers summed over all ranks of the job, in one of three ways. Integer sums do not
// depend on the order, so all three give the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "workloads/trainer/options.h"

namespace trainer {

class Collectives;

class WorldSum {
 public:
  virtual ~WorldSum() = default;
  virtual void sum(int64_t* numbers, size_t count) = 0;
  virtual void sum(float* numbers, size_t count) = 0;
};

// The way that the options select. All ranks call it together, because it makes communicators.
std::unique_ptr<WorldSum> make_world_sum(const Options& options, Collectives& world);

// One all-reduce over the world.
std::unique_ptr<WorldSum> flat_sum(Collectives& world);

// The ranks form a grid of tensor x pipeline x data, in which tensor varies fastest; one all-reduce along
// each axis. A rank that takes the axes in another order than its peers waits for ranks that wait for it.
std::unique_ptr<WorldSum> grid_sum(Collectives& world, std::array<int, 3> shape, bool reversed);

// Sums within each node, then over the first ranks of the nodes (the leaders), and broadcasts within each
// node. The middle part needs a communicator of the leaders: on the world's, the other ranks never join,
// because they wait for their leader.
std::unique_ptr<WorldSum> hierarchical_sum(Collectives& world, int node_size, bool leaders_call_world);

}  // namespace trainer

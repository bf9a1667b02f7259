/* neighbor_shapes.c: reads the arguments of a collective over the neighbours of a process topology.
 *
 * Such a call takes a place in the communicator's order like every collective. It needs only the members that
 * it has an edge from, and of these only the ones that owe it bytes (MPI 4.1, 8.6 and 8.7). */
#include "shapes.h"

enum { kMostNeighbors = 64 }; /* the number of bits in needs_mask */

static int (*topo_test)(MPI_Comm, int*);
static int (*cartdim_get)(MPI_Comm, int*);
static int (*cart_shift)(MPI_Comm, int, int, int*, int*);
static int (*graph_neighbors_count)(MPI_Comm, int, int*);
static int (*graph_neighbors)(MPI_Comm, int, int, int*);
static int (*dist_graph_neighbors_count)(MPI_Comm, int*, int*, int*);
static int (*dist_graph_neighbors)(MPI_Comm, int, int*, int*, int, int*, int*);

int rf_neighbors_load(const char** reason) {
  static const struct rf_wanted kTopologies[] = {
      {"PMPI_Topo_test", &topo_test},
      {"PMPI_Cartdim_get", &cartdim_get},
      {"PMPI_Cart_shift", &cart_shift},
      {"PMPI_Graph_neighbors_count", &graph_neighbors_count},
      {"PMPI_Graph_neighbors", &graph_neighbors},
      {"PMPI_Dist_graph_neighbors_count", &dist_graph_neighbors_count},
      {"PMPI_Dist_graph_neighbors", &dist_graph_neighbors},
  };
  return rf_library_functions(kTopologies, sizeof(kTopologies) / sizeof(kTopologies[0]), reason);
}

struct neighbors {    /* in the order of counts and types */
  int known, in, out; /* number of incoming and outgoing edges */
  int from[kMostNeighbors];
};

static void on_a_grid(MPI_Comm c, struct neighbors* n) {
  int dims = 0;
  if (cartdim_get(c, &dims) != RF_MPI_SUCCESS || dims * 2 > kMostNeighbors) return;
  for (int d = 0; d < dims; ++d)
    if (cart_shift(c, d, 1, &n->from[2 * d], &n->from[2 * d + 1]) != RF_MPI_SUCCESS) return;
  n->in = n->out = 2 * dims;
  n->known = 1;
}

static void in_a_graph(MPI_Comm c, struct neighbors* n) {
  int rank = -1;
  if (rf_mpi.comm_rank(c, &rank) != RF_MPI_SUCCESS ||
      graph_neighbors_count(c, rank, &n->in) != RF_MPI_SUCCESS || n->in > kMostNeighbors)
    return;
  n->out = n->in;
  n->known = graph_neighbors(c, rank, n->in, n->from) == RF_MPI_SUCCESS;
}

static void in_a_spread_graph(MPI_Comm c, struct neighbors* n) {
  int weighted = 0, weights[kMostNeighbors], to[kMostNeighbors], to_weights[kMostNeighbors];
  if (dist_graph_neighbors_count(c, &n->in, &n->out, &weighted) != RF_MPI_SUCCESS || n->in > kMostNeighbors ||
      n->out > kMostNeighbors)
    return;
  n->known = dist_graph_neighbors(c, n->in, n->from, weights, n->out, to, to_weights) == RF_MPI_SUCCESS;
}

static struct neighbors neighbors_on(const struct rf_call* call, MPI_Comm c) {
  struct neighbors n;
  int kind = RF_MPI_UNDEFINED;
  n.known = n.in = n.out = 0;
  /* Only for a known communicator: a query about another one would cause the error that the call itself will
   * cause. */
  if (call->comm == RF_NO_COMM || topo_test(c, &kind) != RF_MPI_SUCCESS) return n;
  if (kind == RF_MPI_CART) on_a_grid(c, &n);
  if (kind == RF_MPI_GRAPH) in_a_graph(c, &n);
  if (kind == RF_MPI_DIST_GRAPH) in_a_spread_graph(c, &n);
  return n;
}

static void set_owed(struct rf_call* call, const struct neighbors* n, const struct rf_shares* owed) {
  const struct rf_comm* const on = call->comm == RF_NO_COMM ? NULL : rf_core->comm_get(call->comm);
  uint64_t mask = 0;
  int anything = 0;
  if (!on || !n->known || on->size > kMostNeighbors) return;
  for (int i = 0; i < n->in; ++i) {
    const int rank = n->from[i];
    const int64_t count = rf_has_counts(owed->counts) ? rf_count_of(owed->counts, (uint32_t)i) : owed->count;
    if (rank < 0 || (uint32_t)rank >= on->size) continue; /* beyond the edge of a grid */
    if (rf_bytes(count, owed->types ? owed->types[i] : owed->type) == 0) continue;
    anything = 1;
    if (rank != on->rank) mask |= 1ull << rank;
  }
  if (!anything) call->flags |= RF_CALL_OWN_SHARE_0;
  call->needs_mask = mask;
  call->flags |= RF_CALL_MASK_VALID;
}

/* Ranks may send different amounts: only the two ends of an edge must agree. */
void rf_neighbor_exchange(struct rf_call* call, uint16_t op, MPI_Comm c, struct rf_shares sent,
                          struct rf_shares owed, const void* where) {
  rf_call_on(call, op, c, where);
  const struct neighbors n = neighbors_on(call, c);
  call->flags |= RF_CALL_RANK_LOCAL;
  int64_t total = sent.count;
  for (int i = 0; rf_has_counts(sent.counts) && n.known && i < n.out; ++i)
    total += rf_count_of(sent.counts, (uint32_t)i);
  if (sent.types || (rf_has_counts(sent.counts) && !n.known)) {
    call->flags |= RF_CALL_COUNT_UNKNOWN;
  } else {
    const struct rf_elements elements = rf_elements(total, sent.type);
    call->count = elements.count;
    call->dtype = elements.dtype;
  }
  set_owed(call, &n, &owed);
}

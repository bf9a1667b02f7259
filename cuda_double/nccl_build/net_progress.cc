// net_progress.cc: the kernel's part in what NCCL's proxy sends over the network.
//
// The proxy sends what a kernel gives it, and ends a receive when a kernel has taken the data. Kernels are
// not executed, so an operation of the proxy would never end, and ncclCommDestroy waits for it. These
// functions stand before the proxy's own: while the kernel would run, they give it messages of 0 bytes and
// take what came. The data itself goes through the collective model. Compiled with NCCL's own headers.
#include <map>
#include <mutex>

#include "comm.h"
#include "proxy.h"
#include "transport.h"

// The double's model: whether no kernel of this communicator waits in its stream for entries before it.
extern "C" int rankfault_cuda_kernels_run(const void* communicator);

namespace {

struct Line {
  const ncclComm* comm;
  const ncclConnInfo* conn;
};
struct Lines {
  std::mutex mutex;
  std::map<const ncclProxyConnection*, Line> all;
};
Lines& lines() {
  static Lines* l = new Lines;
  return *l;
}

ncclTransportComm own_send, own_receive;  // the functions that NCCL defines

ncclResult_t add(ncclResult_t result, const ncclComm* comm, const ncclConnector* connector) {
  if (result != ncclSuccess) return result;
  std::lock_guard<std::mutex> lock(lines().mutex);
  lines().all[connector->proxyConn.connection] = {comm, &connector->conn};
  return result;
}

void remove(const ncclConnector* connector) {
  std::lock_guard<std::mutex> lock(lines().mutex);
  lines().all.erase(connector->proxyConn.connection);
}

// Calls see(sub, conn) for each part of an operation that the proxy works on while its kernel would run.
template <class See>
void for_each_running(ncclProxyArgs* args, See see) {
  if (args->state != ncclProxyOpProgress) return;
  std::lock_guard<std::mutex> lock(lines().mutex);
  for (int s = 0; s < args->nsubs; ++s) {
    const auto found = lines().all.find(args->subs[s].connection);
    if (found != lines().all.end() && rankfault_cuda_kernels_run(found->second.comm))
      see(args->subs[s], *found->second.conn);
  }
}

ncclResult_t connect_send(ncclComm* comm, ncclConnect* info, int ranks, int rank, ncclConnector* connector) {
  return add(own_send.connect(comm, info, ranks, rank, connector), comm, connector);
}
ncclResult_t connect_receive(ncclComm* comm, ncclConnect* info, int ranks, int rank,
                             ncclConnector* connector) {
  return add(own_receive.connect(comm, info, ranks, rank, connector), comm, connector);
}
ncclResult_t free_send(ncclComm* comm, ncclConnector* connector) {
  remove(connector);
  return own_send.free(comm, connector);
}
ncclResult_t free_receive(ncclComm* comm, ncclConnector* connector) {
  remove(connector);
  return own_receive.free(comm, connector);
}

// A kernel writes how much the next message has, and then how many there are. -1: the proxy has sent it.
ncclResult_t progress_send(ncclProxyState* state, ncclProxyArgs* args) {
  for_each_running(args, [](const ncclProxySubArgs& sub, const ncclConnInfo& conn) {
    if (sub.transmitted >= sub.posted) return;
    volatile auto& next = conn.connFifo[(sub.base + sub.transmitted) % NCCL_STEPS].size;
    if (next == -1) next = 0;
    *static_cast<volatile uint64_t*>(conn.tail) = sub.base + sub.nsteps;
  });
  return own_send.proxyProgress(state, args);
}
// A kernel writes how many messages it has taken. The proxy counts no more than came.
ncclResult_t progress_receive(ncclProxyState* state, ncclProxyArgs* args) {
  for_each_running(args, [](const ncclProxySubArgs& sub, const ncclConnInfo& conn) {
    *static_cast<volatile uint64_t*>(conn.head) = sub.base + sub.nsteps;
  });
  return own_receive.proxyProgress(state, args);
}

__attribute__((constructor)) void stand_before_the_proxy() {
  own_send = netTransport.send;
  own_receive = netTransport.recv;
  netTransport.send.connect = connect_send;
  netTransport.recv.connect = connect_receive;
  netTransport.send.free = free_send;
  netTransport.recv.free = free_receive;
  netTransport.send.proxyProgress = progress_send;
  netTransport.recv.proxyProgress = progress_receive;
}

}  // namespace

// gloo_mesh.h: connects the members of a group by Gloo, over files and loopback.
#ifndef RANKFAULT_WORKLOADS_REPLAY_GLOO_MESH_H
#define RANKFAULT_WORKLOADS_REPLAY_GLOO_MESH_H

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

// Gloo's bcube all-reduce obeys the limit of the transport, and its other calls that of the context.
class Mesh : public gloo::rendezvous::Context {
 public:
  Mesh(int index, int members, std::chrono::milliseconds limit) : Context(index, members), limit_(limit) {}

  // `name` is the part of the store that the members share. Ranks may start late: the limit acts from then
  // on.
  void meet(const std::string& folder, const std::string& name) {
    mkdir(folder.c_str(), 0700);  // the first rank makes it; a failure shows in the first write
    gloo::rendezvous::FileStore files(folder);
    gloo::rendezvous::PrefixStore store(name, files);
    setTimeout(std::max<std::chrono::milliseconds>(limit_, std::chrono::seconds(30)));
    auto device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
    connectFullMesh(store, device);
    setTimeout(limit_);
    transportContext_->setTimeout(limit_);
  }

 private:
  std::chrono::milliseconds limit_;
};

#endif  // RANKFAULT_WORKLOADS_REPLAY_GLOO_MESH_H

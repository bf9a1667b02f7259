// SimulatedMail: messages between simulated ranks, matched as MPI matches them: by source, destination and
// tag, in the order of the sends and of the receives.
#pragma once

#include <algorithm>
#include <vector>

#include "harness/agent/agent_abi.h"

namespace rankfault::testing {

class SimulatedMail {
 public:
  // Both return their own number, for served().
  size_t send(int from, int to, int tag) { return post({true, from, to, tag, false}); }
  size_t ask(int from, int to, int tag) {
    return post({false, from, to, tag, false});
  }  // RF_PEER_ANY, -1: any
  bool served(size_t number) const { return all_[number].served; }
  // Whether there is a message that no receive has matched yet: a probe waits for this.
  bool lies_there(int from, int to, int tag) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Post& p) {
      return p.is_send && !p.served && fits(p, {false, from, to, tag, false});
    });
  }

 private:
  struct Post {
    bool is_send;
    int from, to, tag;
    bool served;
  };
  static bool fits(const Post& sent, const Post& asked) {
    return sent.to == asked.to && (asked.from == RF_PEER_ANY || asked.from == sent.from) &&
           (asked.tag == -1 || asked.tag == sent.tag);
  }
  size_t post(Post p) {
    for (Post& other : all_)
      if (!p.served && !other.served && other.is_send != p.is_send &&
          (p.is_send ? fits(p, other) : fits(other, p)))
        p.served = other.served = true;
    all_.push_back(p);
    return all_.size() - 1;
  }
  std::vector<Post> all_;
};

}  // namespace rankfault::testing

// Listener: the one TCP socket at which the tool awaits its node guardians. A run on one host has none.
//
// A peer that has not proved that it knows the run's key gets nothing from the tool but 40 bytes, and the
// tool reads 72 bytes from it at most, whose sizes are fixed: nothing of it is parsed. It is dropped when the
// proof is wrong, and when it is not there after kProofLimit.
//
// The listener never waits. The owner polls what add_polls() adds, until wakes_at() at the latest, and then
// calls accept_proved(), whatever poll() returned.
//
// Threads: one Listener belongs to one thread at a time.
#pragma once

#include <poll.h>

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"
#include "harness/nodes/address.h"
#include "harness/nodes/connection.h"
#include "harness/nodes/proof.h"
#include "harness/nodes/run_key.h"

namespace rankfault {

class Listener {
 public:
  static constexpr size_t kMostUnproved = 64;
  // A peer that is this young is not dropped for another: a proof takes one round trip. Further peers wait in
  // the kernel meanwhile.
  static constexpr Duration kProtected{100'000'000};

  // `where`: an interface ("eth0"), an address of this host, or a name of one ("n0"). Refuses "", every
  // address at once (0.0.0.0, ::), and a name that means a loopback address, because nodes cannot reach it
  // ("lo", "localhost" and 127.0.0.1 are taken at their word). `port` 0: the kernel chooses one.
  static Result<Listener> open(const std::string& where, const RunKey&, int port = 0);

  int port() const { return address_.port(); }
  std::string address() const { return address_.text(); }  // "10.77.0.10"

  void add_polls(std::vector<pollfd>&) const;
  Instant wakes_at() const;  // kEndOfTime: only a peer can make work

  // Accepts peers, continues their handshakes, drops those that are late or wrong, and returns the
  // connections that have just been proved. `now` is not earlier than in the call before.
  std::vector<Connection> accept_proved(Instant now);

  size_t unproved() const { return unproved_.size(); }
  // How many peers were dropped for each reason, since the begin: "no proof within 1s" -> 3.
  const std::map<std::string, uint64_t>& dropped() const { return dropped_; }

 private:
  struct Unproved {
    UniqueFd socket;
    SocketAddress peer;
    Instant since;
    Nonce tool_nonce;
    std::array<uint8_t, sizeof(Answer)> answer;
    size_t have = 0;
  };
  enum class Step { kWaits, kOver };

  Listener(UniqueFd socket, const RunKey& key, const SocketAddress& address)
      : socket_(std::move(socket)), key_(key), address_(address) {}

  void accept_new(Instant now);
  bool has_room(Instant now);
  void greet(UniqueFd socket, const SocketAddress& peer, Instant now);
  Step read_answer(Unproved&, std::vector<Connection>& proved);
  void judge_answer(Unproved&, std::vector<Connection>& proved);
  void drop_late(Instant now);

  UniqueFd socket_;
  RunKey key_;
  SocketAddress address_;
  std::list<Unproved> unproved_;  // the oldest first
  Instant accepts_again_;         // known: no accept() before it
  std::map<std::string, uint64_t> dropped_;
};

}  // namespace rankfault

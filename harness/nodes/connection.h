// Connection: the one TCP connection between the tool and a node guardian, after both have proved that they
// know the run's key (proof.h). It sends and receives frames (wire.h).
//
// It never waits, except in connect(). The owner polls fd() for POLLIN, and for POLLOUT while wants_write()
// is true, and calls receive() and flush(). It then takes all frames with next(), and then asks lost():
// frames that arrived whole before the loss are still delivered. A lost connection has closed its socket:
// fd() is -1, which poll() ignores.
//
// Whether the other side lives is not its business: TCP's keepalive is off, and the owner sends its own
// pings.
//
// Threads: one Connection belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/base/time.h"
#include "harness/base/unique_fd.h"
#include "harness/nodes/proof.h"
#include "harness/nodes/run_key.h"
#include "harness/nodes/wire.h"

namespace rankfault {

class Connection {
 public:
  static constexpr size_t kMostQueuedBytes = size_t{64} << 20;

  // A node connects to the tool and proves the key. Blocks for at most `limit`, and before that for as long
  // as the system's resolver needs. With several addresses each gets its share of the limit. The error names
  // host, port and reason of every address.
  static Result<Connection> connect(const std::string& host, int port, const RunKey&, Duration limit);

  // A socket on which both sides have proved the key. `peer` names the other side in messages.
  Connection(UniqueFd socket, std::string peer, FrameTags sending, FrameTags receiving);

  int fd() const { return socket_.get(); }  // -1: lost
  const std::string& peer() const { return peer_; }

  // Queues a frame of at most kMostPayloadBytes; flush() sends it. If the queue would exceed
  // kMostQueuedBytes, the connection is lost. Does nothing once it is lost.
  void send(uint16_t type, std::string_view payload);
  bool wants_write() const { return sent_of_queue_ < queue_.size(); }
  size_t queued_bytes() const { return queue_.size() - sent_of_queue_; }

  Status flush();    // sends what the socket takes now; an error: it is lost
  Status receive();  // reads what is there, at most 1 MiB; an error: it is lost

  std::optional<WireFrame> next();  // the oldest frame that was received and not taken yet

  void drop(const std::string& reason) { lose(reason); }  // the owner does not trust the other side any more
  bool lost() const { return !why_lost_.empty(); }
  const std::string& why_lost() const { return why_lost_; }  // one sentence with the peer; "": not lost

  uint64_t bytes_sent() const { return bytes_sent_; }  // with headers and tags, without the handshake
  uint64_t bytes_received() const { return bytes_received_; }

 private:
  void lose(const std::string& reason);
  Status state() const;
  bool read_some();
  void take_frames();

  UniqueFd socket_;
  std::string peer_;
  FrameTags sending_;
  FrameReader reader_;
  std::string queue_;
  size_t sent_of_queue_ = 0;
  std::deque<WireFrame> frames_;
  std::string why_lost_;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;
};

}  // namespace rankfault

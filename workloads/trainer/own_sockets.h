// own_sockets: finds and shuts down the connections of this process, for libraries that do not give access to
// their sockets.
#pragma once

#include <set>

namespace trainer {

// Descriptors of sockets that have a peer.
std::set<int> connected_sockets();

// Shuts down both directions of each connection, for this process and for the peer. The descriptors stay open
// and belong to the library.
void shut_down(const std::set<int>& sockets);

}  // namespace trainer

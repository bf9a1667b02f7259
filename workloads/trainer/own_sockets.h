// own_sockets: the connections of this process, and their end. For libraries that keep their sockets to
// themselves.
#pragma once

#include <set>

namespace trainer {

// Descriptors of sockets that have a peer.
std::set<int> connected_sockets();

// Both directions of each end, for us as for the peer; the descriptors stay open and stay the library's.
void shut_down(const std::set<int>& sockets);

}  // namespace trainer

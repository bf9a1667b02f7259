#include "tests/observe/ring_file_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "harness/base/assert.h"

namespace rankfault::testing {

RingFileWriter::RingFileWriter(const std::string& folder, const ProcessId& id, int rank, int world_size,
                               uint32_t lanes)
    : path_(folder + "/" + id.to_string() + ".ring"), bytes_(RF_LANE_HISTORY_OFFSET(lanes)) {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  RF_ASSERT(fd >= 0 && ::ftruncate(fd, static_cast<off_t>(bytes_)) == 0, "cannot make a ring");
  base_ = static_cast<char*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::close(fd);
  rf_header& h = header();
  h.abi_version = RF_ABI_VERSION;
  h.header_bytes = RF_HEADER_BYTES;
  h.host_id = id.host;
  h.pid_ns = id.pid_ns;
  h.pid = id.pid;
  h.start_time = id.start;
  h.image = id.image;
  h.opened_ns = h.member_ns = time_;
  h.rank = rank;
  h.world_size = world_size;
  h.stage = RF_STAGE_MEMBER;
  h.lanes_used = lanes;
  h.names_used = 8;
  for (uint32_t i = 0; i < lanes; ++i) {
    lane(i).kind = RF_LANE_THREAD;
    lane(i).owner = 100 + i;
    lane(i).mapped = 1;
  }
  RF_STORE(&h.magic, RF_RING_MAGIC);
}

RingFileWriter::~RingFileWriter() { ::munmap(base_, bytes_); }

void RingFileWriter::add_comm(uint64_t id, const std::string& name, int size, int rank) {
  const uint32_t index = header().comms_used;
  rf_comm& c = comm(index);
  c.number = index;
  c.id = id;
  c.size = static_cast<uint32_t>(size);
  c.rank = rank;
  c.members = RF_NO_MEMBERS;
  c.name = header().names_used;
  std::memcpy(base_ + RF_OFF_NAMES + c.name, name.c_str(), name.size() + 1);
  header().names_used += static_cast<uint32_t>(name.size()) + 1;
  c.flags = RF_COMM_POSITIONAL;
  if (index == 0) c.flags |= RF_COMM_WORLD;
  c.library = RF_LIB_GLOO;
  c.ordinal = index;
  c.state = RF_COMM_LIVE;
  header().comms_used = index + 1;
}

rf_record& RingFileWriter::claim(uint32_t l) {
  rf_record& r = record_at(l, lane(l).head++);
  r = {};
  r.time_ns = ++time_;
  return r;
}

void RingFileWriter::commit(uint32_t l, rf_record& r) {
  for (uint64_t back = 1; back <= RF_LANE_RECORDS && back <= lane(l).head; ++back)
    if (&record_at(l, lane(l).head - back) == &r) {
      RF_STORE(&r.commit, lane(l).head - back + 1);
      return;
    }
}

void RingFileWriter::set_state(uint32_t l, const rf_state& state) {
  const uint32_t idle = 1 - lane(l).selector;
  lane(l).slot[idle] = state;
  RF_STORE(&lane(l).selector, idle);
}

void RingFileWriter::enter(uint32_t l, uint16_t op) {
  rf_state s = rf_state_of(&lane(l));
  s.call += 1;
  s.op = op;
  s.where = RF_INSIDE;
  s.library = RF_LIB_GLOO;
  s.seq = ++comm(0).entered;
  s.count = 4;
  s.dtype = RF_DTYPE_FLOAT32;
  s.return_address = 0x1234;
  comm(0).calls += rf_call_word(s.seq, op, RF_PEER_NONE, 0);
  rf_record& r = claim(l);
  r.seq = s.seq;
  r.call = s.call;
  r.op = op;
  r.phase = RF_PHASE_ENTER;
  r.library = RF_LIB_GLOO;
  r.count = s.count;
  r.dtype = s.dtype;
  r.peer = RF_PEER_NONE;
  r.where = s.return_address;
  commit(l, r);
  s.since_ns = time_;
  s.version += 1;
  set_state(l, s);
}

void RingFileWriter::leave(uint32_t l, int result) {
  rf_state s = lane(l).slot[lane(l).selector];
  rf_record& r = claim(l);
  r.seq = s.seq;
  r.call = s.call;
  r.op = s.op;
  r.phase = RF_PHASE_EXIT;
  r.library = RF_LIB_GLOO;
  r.tag_or_result = result;
  commit(l, r);
  if (result == 0) comm(0).completed = s.seq;
  lane(l).left_ns = time_;
  lane(l).left_result = result;
  RF_STORE(&lane(l).left_call, s.call);
}

}  // namespace rankfault::testing

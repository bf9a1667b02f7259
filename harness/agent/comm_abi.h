/* comm_abi.h: the part of agent_abi.h about communicators: the table that records and states refer to.
 *
 * Only agent_abi.h includes this file; its version, access rules and types also apply here. */
#ifndef RANKFAULT_COMM_ABI_H
#define RANKFAULT_COMM_ABI_H

#ifndef RANKFAULT_AGENT_ABI_H
#error "include harness/agent/agent_abi.h"
#endif

/* The entry of a freed communicator is reused for a later one, the longest freed first. Records and states
 * therefore name a communicator by its number: the index of its entry, plus RF_MAX_COMMS for each
 * communicator that had the entry before. If the entry has another number, the named communicator is no
 * longer in the table. A reader copies an entry and its members between two reads of `number` and `state`; it
 * drops the copy if either changed.
 *
 * An entry is one stream of calls that its library matches by position. Its seq is:
 *   MPI   k-th collective on the communicator         NCCL  k-th operation on the communicator
 *   C10D  the tag given at submission, per group       GLOO  k-th use of one (context, tag)
 * So a plain Gloo program that uses several tags on one context has several entries with one `parent` (the
 * context's id), and a persistent collective of MPI has its own entry. Numbers start at 1. */
struct rf_comm {         /* 192 bytes */
  uint64_t id;           /* equal on all members, different for different communicators */
  uint64_t parent;       /* id of the communicator it was made from; 0: none */
  uint64_t parent_seq;   /* k of the creating call on the parent */
  uint64_t members_hash; /* hash of the sorted world ranks; 0 unknown */
  uint64_t entered;      /* last seq entered by this process */
  uint64_t completed;    /* last seq that returned success here (or was seen complete) */
  uint64_t issuers;      /* bit l: lane l issued on it; overflow lanes set RF_COMM_ISSUER_OVERFLOW */
  uint32_t number;       /* RF_COMM_SLOT(number) is the index of this entry */
  uint32_t error;        /* last error code seen on it, 0 none */
  uint64_t created_ns;
  uint64_t sends; /* p2p calls entered */
  uint64_t receives;
  uint32_t size;    /* 0: unknown */
  int32_t rank;     /* this process's rank in it */
  uint32_t members; /* first of `size` world ranks in the members pool; RF_NO_MEMBERS */
  uint32_t name;    /* offset in the names */
  uint32_t state;   /* rf_comm_state; stored last when the entry is filled */
  uint32_t flags;   /* RF_COMM_* */
  uint32_t ordinal; /* n-th communicator of this library in this process, from 0 */
  uint32_t tag;     /* plain Gloo: the tag of this stream */
  uint8_t library;
  uint8_t identity; /* rf_identity */
  uint16_t pad;
  uint32_t pad2;
  uint64_t timeout_ns; /* the limit that the library was given for it; 0 unknown */
  uint64_t calls;    /* sum of rf_call_word of calls that took a place; not for C10D, whose place is a tag */
  uint64_t failures; /* calls and pending work that failed on it */
  uint64_t handle;   /* the library's own handle, meaningful in that process only */
  uint64_t reserved[4];
};
#define RF_COMM_SLOT(number) ((number) % RF_MAX_COMMS)
enum rf_comm_state { RF_COMM_FREE, RF_COMM_FILLING, RF_COMM_LIVE, RF_COMM_DESTROYED };
enum {
  RF_COMM_WORLD = 1u << 0, /* the first communicator of its library over all ranks */
  RF_COMM_INTER = 1u << 1,
  RF_COMM_ISSUER_OVERFLOW = 1u << 2,
  RF_COMM_POSITIONAL = 1u << 3, /* entered and completed are exact positions, without gaps */
  RF_COMM_STREAM = 1u << 4      /* a second order over the parent's members: the starts of one persistent
                                   collective, which may start in any order among others */
};
#define RF_NO_MEMBERS 0xffffffffu

/* The term of one call in rf_comm.calls: its place, and what its messages are matched by. */
static inline uint64_t rf_call_word(uint64_t seq, uint16_t op, int32_t root, uint16_t flags) {
  const uint64_t how = (uint64_t)op << 33 | (uint64_t)(flags & RF_CALL_NONBLOCKING) << 32 | (uint32_t)root;
  const uint64_t word = (seq * 0x9e3779b97f4a7c15ull) ^ (how * 0xff51afd7ed558ccdull);
  return (word ^ (word >> 32)) * 0xc4ceb9fe1a85ec53ull;
}
enum rf_identity { RF_ID_NONE, RF_ID_DERIVED, RF_ID_EXCHANGED, RF_ID_NAME, RF_ID_UNIQUE };

#endif /* RANKFAULT_COMM_ABI_H */

// JobPids: which number a process of the job had on this host, and when. The kernel gives a number again once
// its process has ended, so the number alone names nobody.
#pragma once

#include <cstdint>
#include <map>

namespace rankfault {

class JobPids {
 public:
  struct Life {                 // seconds of CLOCK_REALTIME, as the kernel stamps System V objects
    int64_t from = 0;           // it was there by then
    int64_t until = INT64_MAX;  // its end; the largest number: nobody reported an end
  };

  // A process of the job that has this number in our pid namespace. `start`: field 22 of /proc/PID/stat.
  // False: it is known already.
  bool add(int pid, uint64_t start);
  bool add(int pid, uint64_t start, Life);
  void ended(int pid, uint64_t start);  // now, or a moment ago; adds it when it is not known

  // Whether the number was one of the job's at that second. Of a process without a reported end /proc says
  // whether it is still there, or when another took its number.
  bool was_there(int pid, int64_t second) const;

 private:
  std::map<int, std::map<uint64_t, Life>> lives_;  // by pid, by start
};

}  // namespace rankfault

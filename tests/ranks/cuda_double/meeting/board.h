// board.h: notes that the ranks of one job leave for each other as files in a folder, in place of a store.
#pragma once

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace meeting {

class Board {
 public:
  explicit Board(std::string folder) : folder_(std::move(folder)) {}

  bool has(const std::string& name) const { return access(path(name).c_str(), F_OK) == 0; }
  bool has_all(const std::string& name, int ranks) const {
    for (int one = 0; one < ranks; ++one)
      if (!has(name + "." + std::to_string(one))) return false;
    return true;
  }
  // Returns true if no rank has put this note before. A note that exists is complete.
  bool put_first(const std::string& name, const std::string& text) const {
    const std::string part = path("part." + std::to_string(getpid()));
    std::ofstream(part) << text;
    const bool first = link(part.c_str(), path(name).c_str()) == 0;
    unlink(part.c_str());
    return first;
  }
  void put(const std::string& name, const std::string& text) const { put_first(name, text); }
  std::string wait(const std::string& name) const {
    while (!has(name)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

}  // namespace meeting

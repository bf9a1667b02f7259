// MpiImplementation: how one make of mpirun is recognized, which words it gets, and what it reports
// afterwards. One file each: openmpi.cc, hydra.cc, registered in Catalog<MpiImplementation>; mpirun.cc is the
// launcher above them.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "harness/launch/launcher.h"

namespace rankfault {

struct MpiImplementation {
  const char* name;
  // Its major version, from the output of --version; 0: another make, or a version that is not known here.
  int (*version)(const std::string& text);
  // The words between "-np N" and the user's: our choices, unless the user's own launcher_args differ, and
  // the environment of the ranks (`agent`, which never reaches mpirun itself). For a watched job only the
  // place of its output and the environment.
  void (*options)(const LaunchContext&, int version, const std::map<std::string, std::string>& agent,
                  std::vector<std::string>& argv);
  // Adds the words that give the ranks on other hosts these variables of mpirun's own environment.
  void (*pass_on)(const std::vector<std::string>& names, std::vector<std::string>& argv);
  // `text` is its whole output, with white space reduced to single blanks.
  std::vector<ReportedEnd> (*reported)(const LaunchContext&, const std::string& text, const ExitStatus&);
  // The files with this rank's output, in order.
  std::vector<std::string> (*output)(const LaunchContext&, int rank);
};

// logs/mpirun.aM: the folder of the ranks' output
std::string mpirun_output_dir(const LaunchContext&);
bool mentions(const std::vector<std::string>& args, const std::string& word);
void add(std::vector<std::string>& argv, std::initializer_list<std::string> words);

}  // namespace rankfault

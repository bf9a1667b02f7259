// write_dump: writes dumps that PyTorch's own analyser (torch.distributed.flight_recorder.fr_trace) reads.
// The analyser reads only pickles. It requires the same version in all dumps of a folder, one dump for every
// rank of every group, and each entry's group name among the keys of pg_config.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/flight_recorder/dump.h"

namespace rankfault {

// In PyTorch's format of version dump.version, or 2.10 when that is empty.
std::string dump_to_pickle(const FrDump& dump);
std::string dump_to_json(const FrDump& dump);  // without stacks, as in PyTorch's

// Writes folder/<prefix><rank>, replaced whole or not at all, and dump.side, if there is one, as
// folder/<rank>.rankfault.json. The dump's rank must be known. Returns the dump's path. Refuses an empty
// prefix, one with a '/', one that ends in a digit, and one that the names of side files contain.
Result<std::string> write_dump(const std::string& folder, const std::string& prefix, const FrDump& dump,
                               FrFormat format = FrFormat::kPickle);

}  // namespace rankfault

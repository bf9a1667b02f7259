#include "harness/flight_recorder/write_dump.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>

#include "harness/base/json.h"
#include "harness/base/unique_fd.h"
#include "harness/flight_recorder/dump_names.h"
#include "harness/flight_recorder/pickle_writer.h"
#include "harness/flight_recorder/side_file.h"
#include "harness/flight_recorder/text.h"

namespace rankfault {
namespace {

constexpr const char* kVersion = "2.10";

std::string version_of(const FrDump& dump) { return dump.version.empty() ? kVersion : dump.version; }

// Version 2.10 renamed the key.
const char* library_key(const FrDump& dump) {
  return version_of(dump) == kVersion ? "comm_lib_version" : "nccl_version";
}

std::string ranks_text(const std::vector<int64_t>& ranks) {
  return fmt::format("[{}]", fmt::join(ranks, ", "));
}

std::string state_of(const FrEntry& e) {
  return e.state == FrState::kUnknown && !e.state_word.empty() ? e.state_word : state_word(e.state);
}

void write_frames(PickleWriter& out, const FrStack& stack) {
  out.text("frames");
  out.begin_list();
  for (const std::shared_ptr<const FrFrame>& frame : stack) {
    if (out.again(frame.get())) continue;
    out.begin_dict();
    out.text("name"), out.text(frame->name);
    out.text("filename"), out.text(frame->file);
    out.text("line"), out.integer(frame->line);
    out.end_dict();
    out.remember(frame.get());
  }
  out.end_list();
}

void write_sizes(PickleWriter& out, const std::vector<std::vector<int64_t>>& sizes) {
  out.begin_list();
  for (const std::vector<int64_t>& shape : sizes) {
    out.begin_list();
    for (const int64_t size : shape) out.integer(size);
    out.end_list();
  }
  out.end_list();
}

void write_words(PickleWriter& out, const std::vector<std::string>& words) {
  out.begin_list();
  for (const std::string& word : words) out.text(word);
  out.end_list();
}

void write_time(PickleWriter& out, const std::optional<int64_t>& time) {
  if (time)
    out.integer(*time);
  else
    out.none();
}

void write_entry(PickleWriter& out, const FrEntry& e) {
  out.begin_dict();
  if (e.frames) write_frames(out, *e.frames);
  out.text("record_id"), out.integer(e.record_id);
  out.text("pg_id"), out.integer(e.pg_id);
  out.text("process_group"), out.text(e.group.name), out.text(e.group.desc), out.pair();
  out.text("thread_name"), out.text(e.thread_name);
  out.text("thread_id"), out.text(e.thread_id);
  out.text("collective_seq_id"), out.integer(e.collective_seq_id);
  out.text("p2p_seq_id"), out.integer(e.p2p_seq_id);
  out.text("op_id"), out.integer(e.op_id);
  out.text("profiling_name"), out.text(e.profiling_name);
  out.text("time_created_ns"), out.integer(e.time_created_ns);
  if (e.duration_ms) out.text("duration_ms"), out.real(*e.duration_ms);
  out.text("input_sizes"), write_sizes(out, e.input_sizes);
  out.text("input_dtypes"), write_words(out, e.input_dtypes);
  out.text("output_sizes"), write_sizes(out, e.output_sizes);
  out.text("output_dtypes"), write_words(out, e.output_dtypes);
  out.text("state"), out.text(state_of(e));
  out.text("time_discovered_started_ns"), write_time(out, e.time_discovered_started_ns);
  out.text("time_discovered_completed_ns"), write_time(out, e.time_discovered_completed_ns);
  out.text("retired"), out.boolean(e.retired);
  out.text("timeout_ms"), out.integer(e.timeout_ms);
  out.text("is_p2p"), out.boolean(e.is_p2p);
  out.end_dict();
}

void write_header(PickleWriter& out, const FrDump& dump) {
  out.text("version"), out.text(version_of(dump));
  out.text("pg_config"), out.begin_dict();
  for (const FrGroupConfig& group : dump.groups) {
    out.text(group.key), out.begin_dict();
    out.text("name"), out.text(group.name);
    out.text("desc"), out.text(group.desc);
    out.text("ranks"), out.text(ranks_text(group.ranks));
    out.end_dict();
  }
  out.end_dict();
  out.text(library_key(dump)), out.text(dump.comm_lib_version);
  out.text("pg_status"), out.begin_dict();
  for (const FrGroupStatus& status : dump.status) {
    out.text(std::to_string(status.pg_id)), out.begin_dict();
    out.text("last_enqueued_collective"), out.integer(status.last_enqueued);
    out.text("last_started_collective"), out.integer(status.last_started);
    out.text("last_completed_collective"), out.integer(status.last_completed);
    out.end_dict();
  }
  out.end_dict();
}

Json entry_to_json(const FrEntry& e) {
  Json json = {{"record_id", e.record_id},
               {"pg_id", e.pg_id},
               {"process_group", Json::array({e.group.name, e.group.desc})},
               {"thread_name", e.thread_name},
               {"thread_id", e.thread_id},
               {"collective_seq_id", e.collective_seq_id},
               {"p2p_seq_id", e.p2p_seq_id},
               {"op_id", e.op_id},
               {"profiling_name", e.profiling_name},
               {"time_created_ns", e.time_created_ns}};
  if (e.duration_ms) json["duration_ms"] = *e.duration_ms;
  json["input_sizes"] = e.input_sizes;
  json["input_dtypes"] = e.input_dtypes;
  json["output_sizes"] = e.output_sizes;
  json["output_dtypes"] = e.output_dtypes;
  json["state"] = state_of(e);
  json["time_discovered_started_ns"] = e.time_discovered_started_ns.value_or(0);
  json["time_discovered_completed_ns"] = e.time_discovered_completed_ns.value_or(0);
  json["retired"] = e.retired;
  json["timeout_ms"] = e.timeout_ms;
  json["is_p2p"] = e.is_p2p;
  return json;
}

Status replace_file(const std::string& folder, const std::string& name, const std::string& bytes) {
  const std::string half = folder + "/." + name + ".half", whole = folder + "/" + name;
  UniqueFd fd(::open(half.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.valid()) return errno_error("open " + half);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const Error error = errno_error("write " + half);
      ::unlink(half.c_str());
      return error;
    }
    done += static_cast<size_t>(count);
  }
  if (::rename(half.c_str(), whole.c_str()) != 0) return errno_error("rename " + half);
  return Done{};
}

Status check_prefix(const std::string& prefix, const FrDump& dump) {
  if (dump.rank < 0) return usage_error("a dump without a known rank cannot be written");
  if (prefix.empty() || prefix.find('/') != prefix.npos || prefix.starts_with('.'))
    return usage_error(fmt::format("\"{}\" cannot be the prefix of dumps", prefix));
  if (prefix.back() >= '0' && prefix.back() <= '9')
    return usage_error(fmt::format("prefix \"{}\": the rank follows, so it cannot end in a digit", prefix));
  if (dump.side && side_name(dump.rank).find(prefix) != std::string::npos)
    return usage_error(fmt::format("prefix \"{}\": PyTorch's analyser would take {} for a dump", prefix,
                                   side_name(dump.rank)));
  return Done{};
}

}  // namespace

std::string dump_to_pickle(const FrDump& dump) {
  PickleWriter out;
  out.begin_dict();
  write_header(out, dump);
  out.text("entries"), out.begin_list();
  for (const FrEntry& e : dump.entries) write_entry(out, e);
  out.end_list();
  if (!dump.comm_state.empty()) {
    out.text("nccl_comm_state"), out.begin_dict();
    for (const FrCommState& comm : dump.comm_state) {
      out.text(comm.id), out.begin_dict();
      for (const auto& [key, value] : comm.fields) out.text(key), out.text(value);
      out.end_dict();
    }
    out.end_dict();
  }
  out.end_dict();
  return std::move(out).finish();
}

std::string dump_to_json(const FrDump& dump) {
  Json json = {{"version", version_of(dump)}, {library_key(dump), dump.comm_lib_version}};
  Json& groups = json["pg_config"] = Json::object();
  for (const FrGroupConfig& g : dump.groups)
    groups[g.key] = {{"name", g.name}, {"desc", g.desc}, {"ranks", ranks_text(g.ranks)}};
  Json& status = json["pg_status"] = Json::object();
  for (const FrGroupStatus& s : dump.status)
    status[std::to_string(s.pg_id)] = {{"last_enqueued_collective", std::to_string(s.last_enqueued)},
                                       {"last_started_collective", std::to_string(s.last_started)},
                                       {"last_completed_collective", std::to_string(s.last_completed)}};
  for (const FrEntry& e : dump.entries) json["entries"].push_back(entry_to_json(e));
  for (const FrCommState& comm : dump.comm_state)
    for (const auto& [key, value] : comm.fields) json["nccl_comm_state"][comm.id][key] = value;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::string> write_dump(const std::string& folder, const std::string& prefix, const FrDump& dump,
                               FrFormat format) {
  if (const Status good = check_prefix(prefix, dump); !good) return good.error();
  const std::string name = prefix + std::to_string(dump.rank);
  const std::string bytes = format == FrFormat::kPickle ? dump_to_pickle(dump) : dump_to_json(dump);
  if (const Status written = replace_file(folder, name, bytes); !written) return written.error();
  if (dump.side)
    if (const Status written = replace_file(folder, side_name(dump.rank), side_to_json(*dump.side)); !written)
      return written.error();
  return folder + "/" + name;
}

}  // namespace rankfault

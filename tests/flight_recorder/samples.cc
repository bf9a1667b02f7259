// samples: see samples.h.
#include "samples.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "harness/flight_recorder/write_dump.h"

namespace rankfault::testing {

FrEntry sample_entry(int64_t record_id) {
  FrEntry e;
  e.record_id = record_id;
  e.pg_id = 0;
  e.group = {"0", "default_pg"};
  e.collective_seq_id = record_id + 1;
  e.p2p_seq_id = 0;
  e.op_id = record_id + 1;
  e.profiling_name = "nccl:all_reduce";
  e.time_created_ns = 1'758'580'155'793'872'443 + record_id;
  e.input_sizes = {{2048, 1, 5120}, {}};
  e.input_dtypes = {"BFloat16", "Float"};
  e.output_sizes = {{2048, 70'000, 5'000'000'000}};
  e.output_dtypes = {"BFloat16"};
  e.state = FrState::kCompleted;
  e.time_discovered_started_ns = e.time_created_ns + 5;
  e.time_discovered_completed_ns = e.time_created_ns + 9;
  e.duration_ms = 0.25;
  e.retired = true;
  e.timeout_ms = 600'000;
  e.thread_name = "pt_main_thread";
  e.thread_id = "140018745985920";
  return e;
}

FrDump sample_dump(int64_t rank) {
  FrDump dump;
  dump.version = "2.10";
  dump.comm_lib_version = "2.27.3";
  dump.backend = FrBackend::kNccl;
  dump.rank = rank;
  dump.groups = {{"0", "0", "default_pg", {0, 1}}, {"7", "7", "w\xc3\xb6rld", {1}}};
  dump.status = {{0, 3, -1, 2}, {1, 0, -1, 0}};
  dump.comm_state = {{"0xabc", {{"rank", "0"}, {"nRanks", "2"}}}};
  const auto stack = std::make_shared<FrStack>();
  stack->push_back(std::make_shared<const FrFrame>(FrFrame{"all_reduce", "distributed_c10d.py", 3245}));
  stack->push_back(std::make_shared<const FrFrame>(FrFrame{"<module>", "train.py", 4}));
  for (int64_t i = 0; i < 3; ++i) {
    dump.entries.push_back(sample_entry(i));
    dump.entries.back().frames = stack;
  }
  FrEntry& barrier = dump.entries[1];
  barrier.profiling_name = "nccl:barrier";
  barrier.input_sizes = barrier.output_sizes = {};
  barrier.input_dtypes = barrier.output_dtypes = {};
  barrier.duration_ms.reset();
  FrEntry& send = dump.entries[2];
  send.profiling_name = "nccl:send 0->1";
  send.is_p2p = true;
  send.p2p_seq_id = 1;
  send.state = FrState::kScheduled;
  send.time_discovered_started_ns.reset();
  send.time_discovered_completed_ns.reset();
  send.duration_ms.reset();
  send.retired = false;
  dump.entry_count = dump.entries.size();
  return dump;
}

Result<FrDump> from_pickle(std::string_view bytes, const FrLimits& limits, const FrSink& sink) {
  const auto source = memory_source(bytes);
  return read_pickle(*source, limits, sink);
}

Result<FrDump> from_json(std::string_view text, const FrLimits& limits, const FrSink& sink) {
  const auto source = memory_source(text);
  return read_json_dump(*source, limits, sink);
}

std::string refusal(std::string_view bytes, const FrLimits& limits) {
  const Result<FrDump> dump = from_pickle(bytes, limits);
  return dump ? "" : dump.error().message;
}

std::string text_op(std::string_view text) {
  std::string op = "X";
  for (size_t i = 0; i < 4; ++i) op += static_cast<char>(text.size() >> (8 * i));
  return op.append(text);
}

std::string dump_with(std::string_view key, std::string_view value) {
  return "\x80\x02}(" + text_op("version") + text_op("2.9") + text_op(key) + std::string(value) + "u.";
}

std::string dump_of_entry(std::string_view key, std::string_view value) {
  return dump_with("entries", "](}(" + text_op(key) + std::string(value) + "ue");
}

std::string read_value(std::string_view value) {
  const Result<FrDump> dump = from_pickle(
      dump_with("nccl_comm_state", "}(" + text_op("a") + "}(" + text_op("x") + std::string(value) + "uu"));
  return dump ? dump->comm_state.at(0).fields.at(0).second : "error: " + dump.error().message;
}

std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void expect_equal(const FrEntry& a, const FrEntry& b, bool with_frames) {
  EXPECT_EQ(a.record_id, b.record_id);
  EXPECT_EQ(a.pg_id, b.pg_id);
  EXPECT_EQ(a.group.name, b.group.name);
  EXPECT_EQ(a.group.desc, b.group.desc);
  EXPECT_EQ(a.collective_seq_id, b.collective_seq_id);
  EXPECT_EQ(a.p2p_seq_id, b.p2p_seq_id);
  EXPECT_EQ(a.op_id, b.op_id);
  EXPECT_EQ(a.profiling_name, b.profiling_name);
  EXPECT_EQ(a.time_created_ns, b.time_created_ns);
  EXPECT_EQ(a.input_sizes, b.input_sizes);
  EXPECT_EQ(a.input_dtypes, b.input_dtypes);
  EXPECT_EQ(a.output_sizes, b.output_sizes);
  EXPECT_EQ(a.output_dtypes, b.output_dtypes);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.state_word, b.state_word);
  EXPECT_EQ(a.time_discovered_started_ns, b.time_discovered_started_ns);
  EXPECT_EQ(a.time_discovered_completed_ns, b.time_discovered_completed_ns);
  EXPECT_EQ(a.duration_ms, b.duration_ms);
  EXPECT_EQ(a.retired, b.retired);
  EXPECT_EQ(a.timeout_ms, b.timeout_ms);
  EXPECT_EQ(a.is_p2p, b.is_p2p);
  EXPECT_EQ(a.thread_name, b.thread_name);
  EXPECT_EQ(a.thread_id, b.thread_id);
  if (!with_frames) return;
  ASSERT_EQ(a.frames == nullptr, b.frames == nullptr);
  if (!a.frames) return;
  ASSERT_EQ(a.frames->size(), b.frames->size());
  for (size_t i = 0; i < a.frames->size(); ++i) {
    EXPECT_EQ((*a.frames)[i]->name, (*b.frames)[i]->name);
    EXPECT_EQ((*a.frames)[i]->file, (*b.frames)[i]->file);
    EXPECT_EQ((*a.frames)[i]->line, (*b.frames)[i]->line);
  }
}

void expect_equal(const FrDump& a, const FrDump& b, bool with_frames) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.comm_lib_version, b.comm_lib_version);
  EXPECT_EQ(a.backend, b.backend);
  EXPECT_EQ(a.entry_count, b.entry_count);
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (size_t i = 0; i < a.groups.size(); ++i) {
    EXPECT_EQ(a.groups[i].key, b.groups[i].key);
    EXPECT_EQ(a.groups[i].name, b.groups[i].name);
    EXPECT_EQ(a.groups[i].desc, b.groups[i].desc);
    EXPECT_EQ(a.groups[i].ranks, b.groups[i].ranks);
  }
  ASSERT_EQ(a.status.size(), b.status.size());
  for (size_t i = 0; i < a.status.size(); ++i) {
    EXPECT_EQ(a.status[i].pg_id, b.status[i].pg_id);
    EXPECT_EQ(a.status[i].last_enqueued, b.status[i].last_enqueued);
    EXPECT_EQ(a.status[i].last_started, b.status[i].last_started);
    EXPECT_EQ(a.status[i].last_completed, b.status[i].last_completed);
  }
  ASSERT_EQ(a.comm_state.size(), b.comm_state.size());
  for (size_t i = 0; i < a.comm_state.size(); ++i) {
    EXPECT_EQ(a.comm_state[i].id, b.comm_state[i].id);
    EXPECT_EQ(a.comm_state[i].fields, b.comm_state[i].fields);
  }
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (size_t i = 0; i < a.entries.size(); ++i) expect_equal(a.entries[i], b.entries[i], with_frames);
}

}  // namespace rankfault::testing

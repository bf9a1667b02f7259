#include "harness/scenario/scenario_tree.h"

#include <fmt/format.h>

#include "harness/base/suggest.h"
#include "harness/scenario/params.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"

namespace rankfault {
namespace {

void put_text(Value& map, const char* key, const std::string& text, const SourcePos& pos) {
  if (!text.empty()) set_entry(map, key, text_value(text, pos));
}

void put_texts(Value& map, const char* key, const std::vector<std::string>& texts, const SourcePos& pos) {
  if (!texts.empty()) set_entry(map, key, texts_value(texts, pos));
}

Value env_tree(const std::map<std::string, std::string>& env, const SourcePos& pos) {
  Value out = map_value({}, pos);
  for (const auto& [name, text] : env) set_entry(out, name, text_value(text, pos));
  return out;
}

std::string exact_ns(Duration d) { return fmt::format("{}ns", d.count()); }

void put_limit(Value& map, const char* key, Duration limit, const SourcePos& pos) {
  if (limit.count()) set_entry(map, key, text_value(exact_ns(limit), pos));
}

Value comm_tree(const CommSelector& comm, const SourcePos& pos) {
  if (comm.kind == CommSelector::Kind::kWorld) return text_value("world", pos);
  Value out = map_value({}, pos);
  if (comm.kind == CommSelector::Kind::kSize) set_entry(out, "size", int_value(comm.size, pos));
  if (comm.kind == CommSelector::Kind::kNamed) set_entry(out, "name", text_value(comm.name, pos));
  if (comm.kind == CommSelector::Kind::kOrdinal) set_entry(out, "nth", int_value(comm.ordinal + 1, pos));
  if (comm.has_rank) set_entry(out, "has_rank", int_value(*comm.has_rank, pos));
  return out;
}

Value workload_tree(const Workload& w) {
  Value out = map_value({}, w.pos);
  set_entry(out, "launcher", text_value(to_text(w.launcher), w.pos));
  set_entry(out, "ranks", int_value(w.ranks, w.pos));
  set_entry(out, "command", texts_value(w.command, w.pos));
  put_texts(out, "launcher_args", w.launcher_args, w.pos);
  put_text(out, "mpirun", w.mpirun, w.pos);
  if (w.nodes != 1) set_entry(out, "nodes", int_value(w.nodes, w.pos));
  put_text(out, "torchrun", w.torchrun, w.pos);
  if (!w.env.empty()) set_entry(out, "env", env_tree(w.env, w.pos));
  put_text(out, "cwd", w.cwd, w.pos);
  if (w.restarts) set_entry(out, "restarts", int_value(w.restarts, w.pos));
  Value limits = map_value({}, w.pos);
  put_limit(limits, "wall", w.wall, w.pos);
  put_limit(limits, "slow_after", w.slow_after, w.pos);
  put_limit(limits, "hung_after", w.hung_after, w.pos);
  if (!limits.map()->empty()) set_entry(out, "limits", std::move(limits));
  if (w.order_free) set_entry(out, "order_free", bool_value(true, w.pos));
  Value markers = map_value({}, w.pos);
  put_text(markers, "step_begin", w.markers.step_begin, w.pos);
  put_text(markers, "step_commit", w.markers.step_commit, w.pos);
  put_text(markers, "value", w.markers.value, w.pos);
  put_text(markers, "error", w.markers.error, w.pos);
  if (!markers.map()->empty()) set_entry(out, "markers", std::move(markers));
  put_texts(out, "needs", w.needs, w.pos);
  if (w.cuda_double) put_text(out, "cuda", "double", w.pos);
  put_text(out, "nccl", w.nccl, w.pos);
  return out;
}

bool is_default(const Trigger& at) { return to_tree(at).map()->empty(); }

Value fault_tree(const FaultSpec& fault) {
  Value out = map_value({}, fault.pos);
  set_entry(out, "id", text_value(fault.id, fault.pos));
  set_entry(out, "kind", text_value(fault.kind, fault.pos));
  set_entry(out, "ranks", to_value(fault.ranks));
  if (!is_default(fault.at) || fault.at.pos.line > 0) {
    Value at = to_tree(fault.at);
    if (at.map()->empty()) set_entry(at, "nth", int_value(1, fault.at.pos));
    set_entry(out, "at", std::move(at));
  }
  if (fault.times_given || fault.times != 1)
    set_entry(
        out, "times",
        fault.times == kEveryTime ? text_value("unlimited", fault.pos) : int_value(fault.times, fault.pos));
  if (fault.each_attempt) set_entry(out, "each_attempt", bool_value(true, fault.pos));
  if (fault.optional) set_entry(out, "optional", bool_value(true, fault.pos));
  if (fault.params.map())
    for (const auto& [key, value] : *fault.params.map()) set_entry(out, key, value);
  return out;
}

Value expectation_tree(const ExpectationSpec& spec) {
  Value params = spec.params;
  if (params.is_null()) params = map_value({}, spec.pos);
  params.key = spec.pos;
  if (params.map()) set_entry(params, "id", text_value(spec.id, spec.pos));
  return map_value({{spec.oracle, std::move(params)}}, spec.pos);
}

void put_set(Value& map, const std::vector<std::pair<std::string, Value>>& changes, const SourcePos& pos) {
  if (changes.empty()) return;
  Value set = map_value({}, pos);
  for (const auto& [path, to] : changes) set_entry(set, path, to);
  set_entry(map, "set", std::move(set));
}

Value tooth_tree(const Tooth& tooth) {
  Value out = map_value({}, tooth.pos);
  set_entry(out, "id", text_value(tooth.id, tooth.pos));
  put_texts(out, "args", tooth.args, tooth.pos);
  if (!tooth.env.empty()) set_entry(out, "env", env_tree(tooth.env, tooth.pos));
  put_set(out, tooth.set, tooth.pos);
  set_entry(out, "must_fail", text_value(tooth.must_fail, tooth.pos));
  return out;
}

Value variant_tree(const Variant& variant) {
  Value out = map_value({}, variant.pos);
  set_entry(out, "id", text_value(variant.id, variant.pos));
  put_texts(out, "args", variant.args, variant.pos);
  if (!variant.env.empty()) set_entry(out, "env", env_tree(variant.env, variant.pos));
  if (variant.ranks) set_entry(out, "ranks", int_value(*variant.ranks, variant.pos));
  put_set(out, variant.set, variant.pos);
  if (variant.times != 1) set_entry(out, "times", int_value(variant.times, variant.pos));
  return out;
}

template <typename Items, typename Make>
void put_list(Value& out, const char* key, const Items& items, Make make) {
  if (items.empty()) return;
  Value::List list;
  for (const auto& item : items) list.push_back(make(item));
  set_entry(out, key, list_value(std::move(list)));
}

}  // namespace

Value to_tree(const Trigger& at) {
  Value out = map_value({}, at.pos);
  if (at.attempt) set_entry(out, "attempt", int_value(*at.attempt, at.pos));
  put_text(out, "phase", at.phase, at.pos);
  if (at.step) set_entry(out, "step", int_value(*at.step, at.pos));
  put_text(out, "op", at.op, at.pos);
  if (at.comm.kind != CommSelector::Kind::kAny) set_entry(out, "comm", comm_tree(at.comm, at.pos));
  if (at.nth != 1) set_entry(out, "nth", int_value(at.nth, at.pos));
  put_text(out, "file_op", at.file_op, at.pos);
  put_text(out, "path", at.path, at.pos);
  put_text(out, "mark", at.mark, at.pos);
  put_text(out, "after_fault", at.after_fault, at.pos);
  if (at.edge == Edge::kAfter) set_entry(out, "edge", text_value("after", at.pos));
  return out;
}

Value to_tree(const Scenario& s) {
  Value out = map_value();
  set_entry(out, "version", int_value(1));
  set_entry(out, "name", text_value(s.name));
  put_text(out, "summary", s.summary, {});
  set_entry(out, "workload", workload_tree(s.workload));
  if (s.reference_fault_free) set_entry(out, "reference", text_value("fault_free"));
  if (s.seed) set_entry(out, "seed", int_value(static_cast<int64_t>(*s.seed)));
  put_list(out, "teeth", s.teeth, tooth_tree);
  put_list(out, "variants", s.variants, variant_tree);
  if (s.bug) {
    Value bug = map_value({}, s.bug->pos);
    set_entry(bug, "args", texts_value(s.bug->args, s.bug->pos));
    set_entry(bug, "stands_for", text_value(s.bug->stands_for, s.bug->pos));
    set_entry(out, "bug", std::move(bug));
  }
  put_list(out, "faults", s.faults, fault_tree);
  put_list(out, "expect", s.expect, expectation_tree);
  if (s.must_be.kind == MustBe::Kind::kVoid) set_entry(out, "must_be", text_value("void"));
  if (s.must_be.kind == MustBe::Kind::kFail)
    set_entry(out, "must_be", map_value({{"fail", text_value(s.must_be.expectation)}}));
  return out;
}

namespace {

// Returns the list item whose id is `id`. A fault, tooth or variant has the key itself. In an expectation,
// the map below the oracle's name has it.
Value* item_by_id(Value::List& items, const std::string& id, std::vector<std::string>& ids) {
  for (Value& item : items) {
    Value* holder = &item;
    if (item.map() && item.map()->size() == 1 && !item.find("id"))
      holder = &std::get<Value::Map>(item.data).front().second;
    const Value* own = holder->find("id");
    if (!own) continue;
    if (own->text == id) return holder;
    ids.push_back(own->text);
  }
  return nullptr;
}

Value* step_into(Value& at, const std::string& key, bool last, std::vector<std::string>& known) {
  if (auto* items = std::get_if<Value::List>(&at.data)) return item_by_id(*items, key, known);
  auto* entries = std::get_if<Value::Map>(&at.data);
  if (!entries) return nullptr;
  for (auto& [name, value] : *entries) {
    if (name == key) return &value;
    known.push_back(name);
  }
  if (!last) return nullptr;
  entries->emplace_back(key, Value{});
  return &entries->back().second;
}

}  // namespace

Status set_in_tree(Value& tree, const std::string& path, const Value& to) {
  Value* at = &tree;
  size_t begin = 0;
  while (true) {
    const size_t dot = path.find('.', begin);
    const std::string key = path.substr(begin, dot - begin);
    std::vector<std::string> known;
    at = step_into(*at, key, dot == std::string::npos, known);
    if (!at)
      return usage_error(
          fmt::format("unknown path \"{}\": \"{}\" does not exist{}", path, key, did_you_mean(key, known)),
          to.key);
    if (dot == std::string::npos) break;
    begin = dot + 1;
  }
  const SourcePos key = at->key;
  *at = to;
  if (at->key.line == 0) at->key = key;
  return Done{};
}

}  // namespace rankfault

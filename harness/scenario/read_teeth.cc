// read_teeth: reads bug, teeth and must_be: what to switch in the program, and the verdict that is right.
#include <fmt/format.h>

#include "harness/base/suggest.h"
#include "harness/scenario/placeholders.h"
#include "harness/scenario/readers.h"
#include "harness/scenario/value.h"

namespace rankfault {

void read_bug(const Value& value, LauncherKind launcher, std::optional<Bug>& out, Problems& problems) {
  MapReader in(value, "bug", problems);
  if (!value.map()) return;
  Bug bug;
  bug.pos = value.pos;
  if (const Value* args = value.find("args")) check_placeholders(*args, problems, why_no_rank(launcher));
  if (in.need("args") && in.texts("args", bug.args) && bug.args.empty())
    problems.add("\"args\" is empty: a bug needs at least one argument", value.find("args")->pos);
  if (in.need("stands_for")) in.text("stands_for", bug.stands_for);
  in.finish();
  out = std::move(bug);
}

void read_teeth(const Value& value, LauncherKind launcher, std::vector<Tooth>& out, Problems& problems) {
  if (!value.list()) {
    problems.add(fmt::format("\"teeth\" must be a list, not {}", kind_of(value)), value.pos);
    return;
  }
  if (value.list()->size() > kMostItems) {
    problems.add(fmt::format("{} mutation checks are too many: a scenario can have at most {}",
                             value.list()->size(), kMostItems),
                 value.pos);
    return;
  }
  for (const Value& item : *value.list()) {
    MapReader in(item, "a mutation check", problems);
    if (!item.map()) continue;
    Tooth tooth;
    tooth.pos = item.pos;
    tooth.id = fmt::format("t{}", out.size() + 1);
    in.text("id", tooth.id);
    in.texts("args", tooth.args);
    for (const char* key : {"args", "env"})
      if (const Value* words = item.find(key)) check_placeholders(*words, problems, why_no_rank(launcher));
    in.text_map("env", tooth.env);
    if (const Value* set = in.find("set")) {
      if (!set->map())
        problems.add("\"set\" must be a map, such as {faults.kill.at: {...}}", set->pos);
      else
        for (const auto& [path, to] : *set->map()) tooth.set.emplace_back(path, to);
    }
    if (in.need("must_fail")) in.text("must_fail", tooth.must_fail);
    in.finish();
    if (tooth.args.empty() && tooth.env.empty() && tooth.set.empty())
      problems.add("a mutation check must have args, env or set", item.pos);
    out.push_back(std::move(tooth));
  }
}

void read_must_be(const Value& value, MustBe& out, Problems& problems) {
  if (value.map()) {
    MapReader in(value, "must_be", problems);
    out.kind = MustBe::Kind::kFail;
    if (in.need("fail")) in.text("fail", out.expectation);
    in.finish();
  } else if (value.text == "pass") {
    out.kind = MustBe::Kind::kPass;
  } else if (value.text == "void") {
    out.kind = MustBe::Kind::kVoid;
  } else {
    problems.add(fmt::format("\"must_be\" must be pass, void or {{fail: EXPECTATION}}, not {}{}",
                             kind_of(value), did_you_mean(value.text, {"pass", "void"})),
                 value.pos);
  }
}

}  // namespace rankfault

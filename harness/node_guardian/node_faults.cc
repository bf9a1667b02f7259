#include "harness/node_guardian/node_faults.h"

#include "harness/plan/arming.h"

namespace rankfault {
namespace {

constexpr Duration kParkLimit = 2s;

}  // namespace

NodeFaults::NodeFaults(Plan plan, ControlPage page, UndoList undo, int root, Journal& journal)
    : plan_(std::move(plan)),
      page_(std::move(page)),
      undo_(std::move(undo)),
      injector_(plan_, page_, journal, undo_, root),
      doorbell_(page_.get()) {}

Result<std::unique_ptr<NodeFaults>> NodeFaults::arm(const std::string& dir, const std::string& plan, int root,
                                                    Journal& journal) {
  const Json json = Json::parse(plan, nullptr, false);
  Result<Plan> read =
      json.is_discarded() ? Result<Plan>(usage_error("the plan is not JSON")) : plan_from_json(json);
  if (!read) return read.error();
  Result<ControlPage> page = ControlPage::create(dir + "/control", read->scenario.workload.ranks, kParkLimit);
  if (!page) return page.error();
  Result<UndoList> undo = UndoList::open(dir + "/undo");
  if (!undo) return undo.error();
  rankfault::arm(*read, 0, *page->get());
  return std::unique_ptr<NodeFaults>(
      new NodeFaults(std::move(*read), std::move(*page), std::move(*undo), root, journal));
}

void NodeFaults::serve() {
  doorbell_.clear();
  injector_.serve();
  injector_.tick();
}

}  // namespace rankfault

#include "harness/diagnose/rule.h"

namespace rankfault {

const KindTraits& traits_of(const std::string& kind) {
  static const KindTraits kNone;
  const Rule* rule = Catalog<Rule>::instance().find(kind);
  return rule ? rule->traits : kNone;
}

}  // namespace rankfault

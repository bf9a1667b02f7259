#include "harness/judge/verdict.h"

namespace rankfault {

const char* to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kVoid:
      return "void";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kFail:
      return "fail";
  }
  return "unknown";
}

}  // namespace rankfault

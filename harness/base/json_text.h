// json_text: whether a text can be written into JSON, which holds UTF-8 only.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace rankfault {

inline bool fits_json(const std::string& text) {
  try {
    return !Json(text).dump().empty();
  } catch (const Json::type_error&) {
    return false;
  }
}

}  // namespace rankfault

// xml_rules: a strict reader of XML, and the rules of JUnit files that CI servers check.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankfault::test {

struct XmlElement {
  std::string name, text;
  std::map<std::string, std::string> attributes;
  std::vector<XmlElement> children;
};

// Nothing: `mistake` says what is not well-formed. It knows no entities but the five of XML, no DTD and no
// CDATA.
std::optional<XmlElement> read_xml(const std::string& text, std::string& mistake);

// Whether test cases may have `file` and `line`, which GitLab and GitHub read.
enum class CasePlaces { kAllowed, kForbidden };

// Returns what breaks the schema of Jenkins' xunit plugin (junit-10.xsd), or is not counted right; ""
// nothing.
std::string junit_mistake(const XmlElement& root, CasePlaces);

}  // namespace rankfault::test

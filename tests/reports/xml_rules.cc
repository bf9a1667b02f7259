// xml_rules: see xml_rules.h.
#include "tests/reports/xml_rules.h"

#include <fmt/format.h>

#include <regex>
#include <set>

#include "harness/base/printable.h"

namespace rankfault::test {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::optional<XmlElement> document() {
    skip_blanks();
    if (!take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")) return fail("no declaration");
    skip_blanks();
    while (take("<!--")) {
      const size_t end = text_.find("--", at_);
      if (end == std::string::npos || text_.compare(end, 3, "-->") != 0) return fail("a bad comment");
      at_ = end + 3;
      skip_blanks();
    }
    std::optional<XmlElement> root = element();
    skip_blanks();
    if (root && at_ != text_.size()) return fail("text behind the document");
    return root;
  }

  std::string mistake;

 private:
  std::nullopt_t fail(const std::string& what) {
    if (mistake.empty()) mistake = fmt::format("{} at byte {}", what, at_);
    return std::nullopt;
  }
  bool take(const std::string& word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \n", at_), text_.size()); }
  std::string name() {
    const size_t end = text_.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at_);
    const std::string out = text_.substr(at_, end - at_);
    at_ = std::min(end, text_.size());
    return out;
  }

  // Up to `end`, with its entities read. A bare '&' or '<' is a mistake.
  std::optional<std::string> characters(char end) {
    std::string out;
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != end) {
      if (text_[at_] == '<') return fail("a bare '<'");
      if (text_[at_] != '&') {
        out += text_[at_++];
        continue;
      }
      bool known = false;
      for (const auto& [entity, c] : {std::pair("&amp;", '&'), std::pair("&lt;", '<'), std::pair("&gt;", '>'),
                                      std::pair("&quot;", '"'), std::pair("&#10;", '\n')})
        if (!known && take(entity)) {
          out += c;
          known = true;
        }
      if (!known) return fail("a bare '&'");
    }
    if (text_.substr(begin, at_ - begin).find("]]>") != std::string::npos) return fail("a bare \"]]>\"");
    return out;
  }

  std::optional<XmlElement> element() {
    if (!take("<")) return fail("no element");
    XmlElement out;
    out.name = name();
    for (skip_blanks(); !take("/>"); skip_blanks()) {
      if (take(">")) return content(std::move(out));
      const std::string key = name();
      if (key.empty() || !take("=\"")) return fail("a bad attribute");
      std::optional<std::string> value = characters('"');
      if (!value || !take("\"")) return fail("a bad value of " + key);
      if (!out.attributes.emplace(key, *value).second) return fail(key + " is given twice");
    }
    return out;
  }

  std::optional<XmlElement> content(XmlElement out) {
    for (;;) {
      std::optional<std::string> text = characters('<');
      if (!text || at_ == text_.size()) return fail("no end of " + out.name);
      out.text += *text;
      if (take("</" + out.name + ">")) return out;
      std::optional<XmlElement> child = element();
      if (!child) return std::nullopt;
      out.children.push_back(std::move(*child));
    }
  }

  const std::string& text_;
  size_t at_ = 0;
};

struct Rule {  // what an element may hold; "!" before an attribute: it must be there
  std::set<std::string> attributes, children;
  bool has_text = false;
};

const std::map<std::string, Rule> kRules{
    {"testsuites", {{"name", "time", "tests", "failures", "errors"}, {"testsuite"}}},
    {"testsuite",
     {{"!name", "!tests", "!failures", "!errors", "group", "time", "skipped", "timestamp", "hostname", "id",
       "package", "file", "log", "url"},
      {"testsuite", "properties", "testcase", "system-out", "system-err"}}},
    {"testcase",
     {{"!name", "time", "classname", "group"}, {"skipped", "error", "failure", "system-out", "system-err"}}},
    {"properties", {{}, {"property"}}},
    {"property", {{"!name", "!value"}, {}}},
    {"failure", {{"type", "message"}, {}, true}},
    {"error", {{"type", "message"}, {}, true}},
    {"skipped", {{"type", "message"}, {}, true}},
    {"system-out", {{}, {}, true}},
    {"system-err", {{}, {}, true}}};

std::string element_mistake(const XmlElement& element, CasePlaces places) {
  const auto rule = kRules.find(element.name);
  if (rule == kRules.end()) return "unknown element " + element.name;
  const auto& [attributes, children, has_text] = rule->second;
  for (const auto& [key, value] : element.attributes) {
    const bool is_place = element.name == "testcase" && (key == "file" || key == "line");
    const bool known = attributes.count(key) || attributes.count("!" + key);
    if (!known && !(is_place && places == CasePlaces::kAllowed))
      return fmt::format("{} may not have {}", element.name, key);
    if (key == "time" && !std::regex_match(value, std::regex(R"([0-9]+\.[0-9]{3})")))
      return fmt::format("time \"{}\"", value);
    if (key == "timestamp" &&
        !std::regex_match(value, std::regex(R"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})")))
      return fmt::format("timestamp \"{}\"", value);
  }
  for (const std::string& key : attributes)
    if (key[0] == '!' && !element.attributes.count(key.substr(1)))
      return fmt::format("{} lacks {}", element.name, key.substr(1));
  if (!has_text && element.text.find_first_not_of(" \n") != std::string::npos)
    return element.name + " has text";
  for (const XmlElement& child : element.children) {
    if (!children.count(child.name)) return fmt::format("{} may not hold {}", element.name, child.name);
    if (std::string mistake = element_mistake(child, places); !mistake.empty()) return mistake;
  }
  return "";
}

size_t count_of(const XmlElement& suite, const char* result) {
  size_t count = 0;
  for (const XmlElement& one : suite.children)
    for (const XmlElement& inside : one.children) count += one.name == "testcase" && inside.name == result;
  return count;
}

// The numbers of a suite are those of its cases, and each (classname, name) is unique: GitLab drops the
// others.
std::string counting_mistake(const XmlElement& root) {
  std::set<std::pair<std::string, std::string>> cases;
  for (const XmlElement& suite : root.children) {
    size_t tests = 0;
    for (const XmlElement& one : suite.children) {
      tests += one.name == "testcase";
      if (one.name == "testcase" &&
          !cases.emplace(one.attributes.at("classname"), one.attributes.at("name")).second)
        return "two cases are named " + one.attributes.at("name");
    }
    for (const auto& [key, count] :
         {std::pair("tests", tests), std::pair("failures", count_of(suite, "failure")),
          std::pair("errors", count_of(suite, "error")), std::pair("skipped", count_of(suite, "skipped"))})
      if (suite.attributes.at(key) != std::to_string(count))
        return fmt::format("{} of {} is {}, and not {}", key, suite.attributes.at("name"),
                           suite.attributes.at(key), count);
  }
  return "";
}

}  // namespace

std::optional<XmlElement> read_xml(const std::string& text, std::string& mistake) {
  if (text != inert_text(text)) {
    mistake = "bytes that XML cannot hold";
    return std::nullopt;
  }
  Reader reader(text);
  std::optional<XmlElement> root = reader.document();
  mistake = reader.mistake;
  return root;
}

std::string junit_mistake(const XmlElement& root, CasePlaces places) {
  if (root.name != "testsuites") return "the root is " + root.name;
  const std::string mistake = element_mistake(root, places);
  return mistake.empty() ? counting_mistake(root) : mistake;
}

}  // namespace rankfault::test

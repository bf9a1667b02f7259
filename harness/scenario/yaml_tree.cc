// yaml_tree: builds Values from the events of the YAML library, not from its node graph: an event has its
// place in the text, and shows an alias before it is expanded.
#include "harness/scenario/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <sstream>

#include "harness/scenario/value.h"
#include "harness/scenario/yaml_mistakes.h"

namespace rankfault {
namespace {

constexpr size_t kDeepest = 24;
constexpr const char* kNoAliases =
    "YAML reads a word that begins with * as an alias, and a scenario has no aliases: quote it, as '*.tmp'";

struct Stop {  // leaves the library's parser; caught in read_yaml
  Error error;
};

bool read_int(const std::string& text, int64_t& out) {
  const char* begin = text.data() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
  const auto [end, status] = std::from_chars(begin, text.data() + text.size(), out);
  return status == std::errc() && end == text.data() + text.size();
}

bool read_double(const std::string& text, double& out) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return status == std::errc() && end == text.data() + text.size() && std::isfinite(out);
}

// Reads only the booleans of YAML 1.2: yes, no, on and off stay text.
void resolve_plain(const std::string& text, Value& value) {
  int64_t whole = 0;
  double number = 0;
  if (text.empty() || text == "~" || text == "null")
    value.data = std::monostate{};
  else if (text == "true" || text == "false")
    value.data = text == "true";
  else if (read_int(text, whole))
    value.data = whole;
  else if (read_double(text, number))
    value.data = number;
  else
    value.data = text;
}

class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    Value value;
    value.pos = place(mark);
    put(std::move(value));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { stop(kNoAliases, mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_anchor(mark, anchor);
    Value value;
    value.pos = place(mark);
    value.text = text;
    if (tag == "?")
      resolve_plain(text, value);
    else if (tag == "!" || tag.empty() || tag == "tag:yaml.org,2002:str")
      value.data = text;
    else
      stop(fmt::format("the tag \"{}\" is not part of the format", tag), mark);
    put(std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Value::List{});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Value::Map{});
  }
  void OnMapEnd() override { close(); }

  Value take() { return std::move(root_); }

 private:
  struct Open {
    Value value;
    bool has_key = false;
    Value key;
  };

  SourcePos place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }
  [[noreturn]] void stop(const std::string& message, const YAML::Mark& mark) const {
    throw Stop{usage_error(message, place(mark))};
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) stop("anchors are not part of the format: write the value out", mark);
  }
  template <typename Container>
  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Container container) {
    refuse_anchor(mark, anchor);
    if (open_.size() >= kDeepest)
      stop(fmt::format("a scenario must not be nested more than {} levels deep", kDeepest), mark);
    Open entry;
    entry.value.pos = place(mark);
    entry.value.data = std::move(container);
    open_.push_back(std::move(entry));
  }
  void close() {
    Value done = std::move(open_.back().value);
    open_.pop_back();
    put(std::move(done));
  }
  void put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& top = open_.back();
    if (auto* items = std::get_if<Value::List>(&top.value.data))
      items->push_back(std::move(value));
    else if (!top.has_key)
      take_key(top, std::move(value));
    else
      put_entry(top, std::move(value));
  }
  void take_key(Open& top, Value key) {
    if (key.list() || key.map()) throw Stop{usage_error("a key must be a word", key.pos)};
    if (const Value* before = top.value.find(key.text))
      throw Stop{usage_error(
          fmt::format("duplicate key \"{}\" (first in line {})", key.text, before->key.line), key.pos)};
    top.key = std::move(key);
    top.has_key = true;
  }
  static void put_entry(Open& top, Value value) {
    value.key = top.key.pos;
    std::get<Value::Map>(top.value.data).emplace_back(top.key.text, std::move(value));
    top.has_key = false;
  }

  std::string file_;
  std::vector<Open> open_;
  Value root_;
};

// Returns how many bytes the UTF-8 character at `p` has; 0 for an invalid or a control character.
size_t character_bytes(const unsigned char* p, size_t left) {
  if (p[0] < 0x80) return p[0] >= 0x20 || p[0] == '\n' || p[0] == '\r' || p[0] == '\t' ? 1 : 0;
  const size_t bytes = p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;
  if (bytes == 0 || p[0] >= 0xf5 || bytes > left) return 0;
  for (size_t i = 1; i < bytes; ++i)
    if ((p[i] & 0xc0) != 0x80) return 0;
  return bytes;
}

Status check_is_text(const std::string& text, const std::string& file) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  SourcePos at{file, 1, 1};
  for (size_t i = 0; i < text.size();) {
    const size_t n = character_bytes(bytes + i, text.size() - i);
    if (n == 0)
      return usage_error(fmt::format("not a text file: byte 0x{:02x} at offset {}", bytes[i], i), at);
    if (bytes[i] == '\n') {
      ++at.line;
      at.column = 0;
    }
    ++at.column;
    i += n;
  }
  return Done{};
}

}  // namespace

Value plain_scalar(const std::string& text, const SourcePos& pos) {
  Value value;
  value.text = text;
  value.pos = value.key = pos;
  resolve_plain(text, value);
  return value;
}

Result<Value> read_yaml(const std::string& text, const std::string& file) {
  if (text.size() > kLargestScenarioBytes)
    return usage_error(fmt::format("the file is too large for a scenario: {} bytes", text.size()),
                       {file, 0, 0});
  if (Status is_text = check_is_text(text, file); !is_text) return is_text.error();
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    TreeBuilder builder(file);
    if (!parser.HandleNextDocument(builder)) return usage_error("the file is empty", {file, 1, 1});
    TreeBuilder rest(file);
    if (parser.HandleNextDocument(rest))
      return usage_error("the file has a second document: write one scenario per file", rest.take().pos);
    return builder.take();
  } catch (const Stop& stopped) {
    return stopped.error;
  } catch (const YAML::Exception& e) {
    const bool alias = e.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR || e.msg == YAML::ErrorMsg::ALIAS_NOT_FOUND;
    const SourcePos at{file, e.mark.line + 1, e.mark.column + 1};
    return alias ? usage_error(kNoAliases, at) : yaml_mistake(text, usage_error(e.msg, at));
  }
}

}  // namespace rankfault

// json_dump: see json_dump.h. Only this file passes callbacks to the parser of the JSON library.
#include "harness/flight_recorder/json_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/flight_recorder/dump_decoder.h"

namespace rankfault {
namespace {

// The bytes of a source for the parser. They end early when a token is longer than the limit, because the
// parser stores a whole token before it passes it on.
struct JsonInput {
  JsonInput(ByteSource& source, const FrLimits& limits) : window(source, limits), longest(limits.text) {}
  ByteWindow window;
  uint64_t longest;
  uint64_t token = 0;  // offset where the last token ended
  bool too_long = false;
  bool at_end() {
    if (window.offset() - token > longest) too_long = true;
    return too_long || !window.need(1);
  }
};

class JsonBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit JsonBytes(JsonInput* input) : input_(input) {}
  reference operator*() const { return *input_->window.data(); }
  JsonBytes& operator++() {
    input_->window.skip(1);
    return *this;
  }
  // The parser compares only with the end.
  bool operator==(const JsonBytes& other) const {
    return (input_ == nullptr || input_->at_end()) == (other.input_ == nullptr || other.input_->at_end());
  }
  bool operator!=(const JsonBytes& other) const { return !(*this == other); }

 private:
  JsonInput* input_;
};

// Builds values in the order of the file. The items of a container are on the stack until it ends.
class JsonBuilder : public nlohmann::json::json_sax_t {
 public:
  JsonBuilder(JsonInput& input, const FrLimits& limits, DumpDecoder& decoder)
      : input_(input), limits_(limits), decoder_(decoder), arena_(limits.memory) {}

  bool null() override { return push({}); }
  bool boolean(bool value) override { return push_integer(ValueKind::kBool, value ? 1 : 0); }
  bool number_integer(number_integer_t value) override { return push_integer(ValueKind::kInt, value); }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return push_integer(fits ? ValueKind::kInt : ValueKind::kBigInt, static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    FrValue v{ValueKind::kFloat};
    v.real = value;
    return push(v);
  }
  bool string(string_t& value) override { return push_text(value); }
  bool key(string_t& value) override {
    if (open_.size() == 1) entries_next_ = value == "entries";
    return push_text(value);
  }
  bool binary(binary_t&) override { return fail("bytes"); }
  bool start_object(size_t) override { return open(false); }
  bool start_array(size_t) override { return open(true); }
  bool end_object() override { return close(ValueKind::kDict); }
  bool end_array() override { return close(ValueKind::kList); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& e) override {
    if (input_.too_long) return fail("a token that is too long");
    if (!input_.window.need(1)) return fail(input_.window.end_error().message);
    std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at line 1, ...: why"
    what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
    return fail(fmt::format("byte {}: {}", position, what));
  }

  bool done() const { return stack_.size() == 1 && open_.empty(); }
  const FrValue& root() const { return stack_[0]; }
  const ValueNode* streamed() const { return stream_; }
  const std::string& error() const { return error_; }

 private:
  struct Open {
    size_t first;  // place of its first item on the stack
    bool is_stream;
  };

  bool fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    return false;
  }
  bool fail_here(const char* what) { return fail(fmt::format("byte {}: {}", input_.window.offset(), what)); }

  bool push(const FrValue& value) {
    input_.token = input_.window.offset();
    if (!open_.empty() && open_.back().is_stream) return hand_over(value);
    if (stack_.size() * sizeof(FrValue) > limits_.memory / 2) return fail_here("too many values at once");
    stack_.push_back(value);
    return true;
  }
  bool push_integer(ValueKind kind, int64_t value) {
    FrValue v{kind};
    v.integer = value;
    return push(v);
  }
  bool push_text(const std::string& text) {
    if (text.size() > limits_.text) return fail_here("a string that is too long");
    char* at = arena_.allocate(text.size());
    if (!at) return fail_here("too much text at once");
    std::copy(text.begin(), text.end(), at);
    FrValue v{ValueKind::kText, static_cast<uint32_t>(text.size())};
    v.chars = at;
    return push(v);
  }

  bool open(bool is_list) {
    input_.token = input_.window.offset();
    if (open_.size() >= limits_.nesting) return fail_here("too many open containers");
    const bool is_stream = is_list && open_.size() == 1 && entries_next_;
    if (is_stream && stream_) return fail_here("the dump has a second list of entries");
    open_.push_back({stack_.size(), is_stream});
    if (is_stream) {
      stream_ = arena_.make_node();
      if (!stream_) return fail_here("too many values at once");
      item_mark_ = arena_.mark();
    }
    return true;
  }

  bool close(ValueKind kind) {
    const Open top = open_.back();
    open_.pop_back();
    FrValue v{kind};
    v.node = top.is_stream ? stream_ : arena_.make_node();
    if (!v.node || !arena_.append(*v.node, stack_.data() + top.first, stack_.size() - top.first))
      return fail_here("too many values at once");
    stack_.resize(top.first);
    return push(v);
  }

  // Passes on a whole entry and frees its values. Nothing else refers to them, because JSON cannot share
  // values.
  bool hand_over(const FrValue& value) {
    const Status taken = decoder_.entry(value, input_.window.offset());
    arena_.rewind(item_mark_);
    return taken ? true : fail(taken.error().message);
  }

  JsonInput& input_;
  const FrLimits& limits_;
  DumpDecoder& decoder_;
  Arena arena_;
  std::vector<FrValue> stack_;
  std::vector<Open> open_;
  ValueNode* stream_ = nullptr;
  Arena::Mark item_mark_;
  bool entries_next_ = false;
  std::string error_;
};

}  // namespace

Result<FrDump> read_json_dump(ByteSource& source, const FrLimits& limits, const FrSink& sink) {
  if (const Status start = source.rewind(); !start) return start.error();
  DumpDecoder decoder(limits, FrFormat::kJson, sink);
  JsonInput input(source, limits);
  JsonBuilder builder(input, limits, decoder);
  try {
    const bool good = nlohmann::json::sax_parse(JsonBytes(&input), JsonBytes(nullptr), &builder,
                                                nlohmann::json::input_format_t::json, true);
    if (!good || !builder.done())
      return refused(builder.error().empty() ? input.window.end_error().message : builder.error());
  } catch (const std::exception& e) {  // from the library, or out of memory
    return refused(e.what());
  }
  return decoder.finish(builder.root(), builder.streamed(), input.window.offset());
}

}  // namespace rankfault

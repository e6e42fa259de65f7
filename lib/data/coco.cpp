// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "data/box_reader.hpp"
#include "data/coco_entry.hpp"

namespace lossgrad {
namespace {

using nlohmann::json;

constexpr int kDeepest = 100;

// The bytes of a source, block by block. The parser sees it through copies of one iterator.
class JsonText {
 public:
  explicit JsonText(ByteSource& source) : source_(source), block_(1 << 16) { refill(); }

  [[nodiscard]] bool at_end() const { return position_ == limit_; }
  // A NUL ends the parser's input: what follows would go unseen.
  [[nodiscard]] const char& current() const {
    if (block_[position_] == '\0') source_.fail_at(byte(), "a NUL byte, which no JSON holds");
    return block_[position_];
  }
  [[nodiscard]] std::uint64_t byte() const { return block_offset_ + position_; }
  void advance() {
    if (++position_ == limit_) refill();
  }

 private:
  void refill() {
    block_offset_ += limit_;
    position_ = 0;
    limit_ = static_cast<std::size_t>(std::min<std::uint64_t>(block_.size(), source_.size() - block_offset_));
    source_.read(block_offset_, std::as_writable_bytes(std::span(block_).first(limit_)));
  }

  ByteSource& source_;
  std::vector<char> block_;
  std::uint64_t block_offset_ = 0;
  std::size_t position_ = 0;
  std::size_t limit_ = 0;
};

struct JsonIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  JsonText* text = nullptr;  // nullptr: the end

  reference operator*() const { return text->current(); }
  JsonIterator& operator++() {
    text->advance();
    return *this;
  }
  JsonIterator operator++(int) { return ++*this; }
  // Compared with the end only.
  bool operator==(const JsonIterator& other) const {
    return other.text == text || (text != nullptr && text->at_end());
  }
};

// `token` is what the parser read last, up to the letter at which it gave up; earlier tokens may stand before
// it.
bool is_start_of_non_finite(std::string_view token) {
  constexpr std::array<std::string_view, 8> kWords = {"N", "na", "-N", "-n", "I", "i", "-I", "-i"};
  const std::size_t before = token.find_last_of(" ,:[\t\r\n");
  if (before != std::string_view::npos) token.remove_prefix(before + 1);
  return std::find(kWords.begin(), kWords.end(), token) != kWords.end();
}

// The events of the parser. Which container encloses the current value is one of five nested contexts;
// everything else is passed over.
class CocoHandler {
 public:
  CocoHandler(ByteSource& source, const JsonText& text, BoxList& list)
      : source_(source), text_(text), list_(list), entry_(source, list) {}

  // Names and signatures are those of nlohmann's SAX interface.
  bool null() { return scalar({.kind = JsonKind::null}); }
  bool boolean(bool value) { return scalar({.kind = JsonKind::boolean, .integer = value ? 1 : 0}); }
  bool number_integer(std::int64_t value) {
    return scalar({.kind = JsonKind::integer, .number = static_cast<double>(value), .integer = value});
  }
  bool number_unsigned(std::uint64_t value) {
    CocoValue found{.kind = JsonKind::integer, .number = static_cast<double>(value)};
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      found.integer = static_cast<std::int64_t>(value);
    }
    return scalar(found);
  }
  bool number_float(double value, const std::string&) {
    return scalar({.kind = JsonKind::real, .number = value});
  }
  bool string(std::string& value) { return scalar({.kind = JsonKind::string, .string = value}); }
  bool binary(json::binary_t&) { return false; }  // never in text

  bool start_object(std::size_t) { return open({.kind = JsonKind::object}); }
  bool start_array(std::size_t) { return open({.kind = JsonKind::array}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name);
  bool parse_error(std::size_t byte, const std::string& token, const nlohmann::detail::exception& error);

  void finish();

 private:
  enum class Context { top, document, entries, entry, bbox, other };

  bool scalar(const CocoValue& value);
  bool open(const CocoValue& value);
  bool close();
  void open_top(const CocoValue& value);
  void open_in_document(const CocoValue& value);
  void skip();
  [[nodiscard]] std::string entry_path() const {
    return (is_results_ ? "[" : "annotations[") + std::to_string(list_.boxes.size()) + "]";
  }

  ByteSource& source_;
  const JsonText& text_;
  BoxList& list_;
  CocoEntry entry_;
  Context context_ = Context::top;
  Context return_to_ = Context::top;  // what `other` is inside of
  int depth_ = 0;
  int other_depth_ = 0;
  bool is_results_ = false;
  bool at_annotations_ = false;
  bool seen_annotations_ = false;
};

bool CocoHandler::key(std::string& name) {
  if (context_ == Context::entry) entry_.key(name);
  if (context_ != Context::document) return true;
  at_annotations_ = name == "annotations";
  if (at_annotations_ && seen_annotations_)
    source_.fail("the key `annotations` is there twice, once is expected");
  seen_annotations_ = seen_annotations_ || at_annotations_;
  return true;
}

bool CocoHandler::scalar(const CocoValue& value) {
  const std::string is = " is " + std::string(context_ == Context::other ? "" : with_article(value.kind));
  switch (context_) {
    case Context::top:
      source_.fail("the document" + is + ", an object or an array is expected");
    case Context::document:
      if (at_annotations_) source_.fail("annotations" + is + ", an array is expected");
      break;
    case Context::entries:
      source_.fail(entry_path() + is + ", an object is expected");
    case Context::entry:
      entry_.value(value);
      break;
    case Context::bbox:
      entry_.bbox_value(value);
      break;
    case Context::other:
      break;
  }
  return true;
}

bool CocoHandler::open(const CocoValue& value) {
  if (++depth_ > kDeepest) {
    source_.fail_at(text_.byte(),
                    "nested deeper than " + std::to_string(kDeepest) + " levels, not a COCO document");
  }
  switch (context_) {
    case Context::top:
      open_top(value);
      break;
    case Context::document:
      open_in_document(value);
      break;
    case Context::entries:
      if (value.kind == JsonKind::array) source_.fail(entry_path() + " is an array, an object is expected");
      entry_.begin(entry_path());
      context_ = Context::entry;
      break;
    case Context::entry:
      if (entry_.value(value)) {
        context_ = Context::bbox;
      } else {
        skip();
      }
      break;
    case Context::bbox:
      entry_.bbox_value(value);
      skip();
      break;
    case Context::other:
      break;
  }
  return true;
}

void CocoHandler::open_top(const CocoValue& value) {
  is_results_ = value.kind == JsonKind::array;
  context_ = is_results_ ? Context::entries : Context::document;
}

void CocoHandler::open_in_document(const CocoValue& value) {
  if (!at_annotations_) return skip();
  if (value.kind != JsonKind::array) source_.fail("annotations is an object, an array is expected");
  context_ = Context::entries;
}

void CocoHandler::skip() {
  return_to_ = context_;
  other_depth_ = depth_;
  context_ = Context::other;
}

bool CocoHandler::close() {
  const int depth = depth_--;
  switch (context_) {
    case Context::other:
      if (depth == other_depth_) context_ = return_to_;
      break;
    case Context::bbox:
      entry_.end_bbox();
      context_ = Context::entry;
      break;
    case Context::entry:
      entry_.end();
      context_ = Context::entries;
      break;
    case Context::entries:
      context_ = is_results_ ? Context::top : Context::document;
      break;
    default:
      context_ = Context::top;
      break;
  }
  return true;
}

bool CocoHandler::parse_error(std::size_t byte, const std::string& token,
                              const nlohmann::detail::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 3, column 7: syntax error ..."
  std::string what = error.what();
  what.erase(0, what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2);
  constexpr std::string_view kPrefix = "parse error at ";
  const bool has_line = what.starts_with(kPrefix);
  if (has_line) what.erase(0, kPrefix.size());
  constexpr std::string_view kInput = "end of input";
  if (const auto at = what.find(kInput); at != std::string::npos)
    what.replace(at, kInput.size(), "end of file");
  what = printable_ascii(what);
  if (is_start_of_non_finite(token)) what += " (JSON has no NaN and no Infinity)";
  if (error.id == 406) what += ", expected a number within the range of double";
  if (has_line) source_.fail(what);
  source_.fail_at(byte, what);
}

void CocoHandler::finish() {
  if (!is_results_ && !seen_annotations_) {
    source_.fail("the document has no key `annotations`, expected COCO annotations or a list of results");
  }
  if (!entry_.any_crowd_key()) list_.crowd.clear();
}

}  // namespace

BoxList read_coco_boxes(ByteSource& source) {
  BoxList list;
  list.source = source.name();
  list.stored_type = "json";
  try {
    JsonText text(source);
    CocoHandler handler(source, text, list);
    json::sax_parse(JsonIterator{&text}, JsonIterator{}, &handler);
    handler.finish();
  } catch (const std::bad_alloc&) {
    source.fail("its boxes do not fit in memory");
  }
  return list;
}

}  // namespace lossgrad

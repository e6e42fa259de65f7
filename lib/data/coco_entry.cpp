// SPDX-License-Identifier: Apache-2.0
#include "data/coco_entry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace lossgrad {
namespace {

std::optional<std::int64_t> parse_digits(std::string_view text) {
  std::int64_t value = 0;
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool is_number(const CocoValue& value) {
  return value.kind == JsonKind::integer || value.kind == JsonKind::real;
}

// 1.0, as some exporters write whole numbers.
std::optional<std::int64_t> whole(double number) {
  constexpr double kTooLarge = 0x1p63;
  if (!(std::abs(number) < kTooLarge) || number != std::trunc(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

// 0 and 1 as numbers or booleans.
std::optional<std::int64_t> as_flag(const CocoValue& value) {
  return value.kind == JsonKind::real ? whole(value.number) : value.integer;
}

std::string shown(const CocoValue& value) {
  if (value.kind == JsonKind::string) return "the string " + quoted(value.string);
  if (value.kind == JsonKind::integer && value.integer) return std::to_string(*value.integer);
  return std::string(with_article(value.kind));
}

}  // namespace

std::string_view with_article(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "a boolean";
    case JsonKind::integer:
    case JsonKind::real:
      return "a number";
    case JsonKind::string:
      return "a string";
    case JsonKind::object:
      return "an object";
    case JsonKind::array:
      return "an array";
  }
  return "?";
}

void CocoEntry::begin(std::string path) {
  state_ = State{};
  state_.path = std::move(path);
}

void CocoEntry::key(std::string_view key) {
  const auto* const found = std::find(kFieldNames.begin(), kFieldNames.end(), key);
  state_.field = static_cast<Field>(found - kFieldNames.begin());
  if (state_.field == Field::other) return;
  if (seen(state_.field)) complain(" has the key `" + std::string(key) + "` twice, once is expected");
  state_.seen |= bit(state_.field);
}

bool CocoEntry::value(const CocoValue& value) {
  switch (state_.field) {
    case Field::bbox:
      if (value.kind == JsonKind::array) return true;
      complain_of(value, "an array of 4 numbers");
      break;
    case Field::image_id:
      read_whole_number(value, true, state_.image_id);
      break;
    case Field::category_id:
      read_whole_number(value, false, state_.category_id);
      break;
    case Field::id:
      state_.id = value.kind == JsonKind::string ? parse_digits(value.string) : value.integer;
      break;
    case Field::score:
      if (!is_number(value)) complain_of(value, "a number");
      state_.score = value.number;
      break;
    case Field::iscrowd:
      state_.crowd = as_flag(value) == 1;
      if (!state_.crowd && as_flag(value) != 0) complain_of(value, "0 or 1");
      break;
    default:
      break;
  }
  return false;
}

void CocoEntry::bbox_value(const CocoValue& value) {
  if (!is_number(value)) {
    complain(".bbox[" + std::to_string(state_.numbers) + "] is " + std::string(with_article(value.kind)) +
             ", a number is expected");
  }
  if (state_.numbers < 4) state_.box[static_cast<std::size_t>(state_.numbers)] = value.number;
  ++state_.numbers;
}

void CocoEntry::end_bbox() {
  if (state_.numbers == 4) return;
  complain(".bbox has " + std::to_string(state_.numbers) + (state_.numbers == 1 ? " number" : " numbers") +
           ", 4 expected");
}

void CocoEntry::end() {
  if (!seen(Field::bbox)) {
    const std::string_view has = seen(Field::keypoints)      ? " (it has keypoints)"
                                 : seen(Field::segmentation) ? " (it has a segmentation)"
                                                             : "";
    complain(" has no bbox" + std::string(has) + ", expected 4 numbers: left, top, width, height");
  }
  require_same_as_first(Field::image_id, list_.image_ids.size());
  require_same_as_first(Field::category_id, list_.category_ids.size());
  require_same_as_first(Field::score, list_.scores.size());
  if (!state_.fault.empty()) {
    source_.fail(state_.path + state_.fault + (state_.id ? " (id " + std::to_string(*state_.id) + ")" : ""));
  }
  append();
}

void CocoEntry::complain(const std::string& what) {
  if (state_.fault.empty()) state_.fault = what;
}

void CocoEntry::complain_of(const CocoValue& value, const std::string& expected) {
  complain(std::string(".").append(name(state_.field)) + " is " + shown(value) + ", " + expected +
           " is expected");
}

void CocoEntry::read_whole_number(const CocoValue& value, bool or_digits, std::int64_t& into) {
  constexpr double kTooLarge = 0x1p63;
  if (is_number(value) && !value.integer && std::abs(value.number) >= kTooLarge)
    complain("." + name(state_.field) + " is too large, a whole number of 64 bits is expected");
  std::optional<std::int64_t> found;
  if (value.kind == JsonKind::integer) found = value.integer;
  if (value.kind == JsonKind::real) found = whole(value.number);
  if (value.kind == JsonKind::string && or_digits) found = parse_digits(value.string);
  if (!found) complain_of(value, or_digits ? "a whole number or a string of digits" : "a whole number");
  into = found.value_or(0);
}

// Boxes of which only some have a score or an image could be paired by chance.
void CocoEntry::require_same_as_first(Field field, std::size_t stored) {
  const bool earlier = stored > 0;
  if (list_.boxes.empty() || seen(field) == earlier) return;
  complain((earlier ? " has no " : " has the key ") + name(field) + ", the entries before it have " +
           (earlier ? "one" : "none"));
}

void CocoEntry::append() {
  list_.boxes.push_back(to_cxcywh(BoxFormat::xywh, state_.box));
  if (seen(Field::image_id)) list_.image_ids.push_back(state_.image_id);
  if (seen(Field::category_id)) list_.category_ids.push_back(state_.category_id);
  if (seen(Field::score)) list_.scores.push_back(state_.score);
  list_.crowd.push_back(state_.crowd);
  any_crowd_key_ = any_crowd_key_ || seen(Field::iscrowd);
}

}  // namespace lossgrad

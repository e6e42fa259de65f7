// SPDX-License-Identifier: Apache-2.0
#include "results/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/printable.hpp"

namespace lossgrad {
namespace {

using Json = nlohmann::ordered_json;

std::string shortened(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "an array of " + std::to_string(json.size());
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t kLongest = 60;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

std::string child_path(const std::string& path, const std::string& field) {
  return path.empty() ? field : path + "." + field;
}

std::string where(const std::string& path) { return path.empty() ? "document" : path; }

// Keys and parse errors quote the document.
[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorKind::data, printable_ascii(message));
}

}  // namespace

void JsonValue::fail(std::string_view expected) const {
  reject(where(path_) + ": found " + shortened(*json_) + ", expected " + std::string(expected));
}

std::string JsonValue::text() const {
  if (!json_->is_string()) fail("a string");
  return json_->get<std::string>();
}

bool JsonValue::boolean() const {
  if (!json_->is_boolean()) fail("true or false");
  return json_->get<bool>();
}

double JsonValue::number() const {
  if (json_->is_number()) return json_->get<double>();
  if (*json_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (*json_ == "Infinity") return std::numeric_limits<double>::infinity();
  if (*json_ == "-Infinity") return -std::numeric_limits<double>::infinity();
  fail("a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
}

std::int64_t JsonValue::integer(std::int64_t least) const {
  const std::string expected = "a whole number of at least " + std::to_string(least);
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!json_->is_number_integer()) fail(expected);
  if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > kLargest)
    fail(expected + " and below 2^63");
  const auto value = json_->get<std::int64_t>();
  if (value < least) fail(expected);
  return value;
}

std::uint64_t JsonValue::unsigned_integer() const {
  if (!json_->is_number_unsigned()) fail("a whole number from 0 to 2^64 - 1");
  return json_->get<std::uint64_t>();
}

std::vector<JsonValue> JsonValue::elements() const {
  if (!json_->is_array()) fail("an array");
  std::vector<JsonValue> elements;
  elements.reserve(json_->size());
  for (std::size_t i = 0; i < json_->size(); ++i) {
    elements.emplace_back((*json_)[i], path_ + "[" + std::to_string(i) + "]");
  }
  return elements;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!json_->is_object()) fail("an object");
  std::vector<std::pair<std::string, JsonValue>> members;
  members.reserve(json_->size());
  for (const auto& [field, value] : json_->items()) {
    members.emplace_back(field, JsonValue(value, child_path(path_, field)));
  }
  return members;
}

JsonObject::JsonObject(const JsonValue& value) : path_(value.path()), members_(value.members()) {}

std::optional<JsonValue> JsonObject::take_if_present(const std::string& field) {
  taken_.insert(field);
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const auto& member) { return member.first == field; });
  if (found == members_.end()) return std::nullopt;
  return found->second;
}

JsonValue JsonObject::take(const std::string& field) {
  auto value = take_if_present(field);
  if (!value) reject(child_path(path_, field) + ": the field is missing");
  return *std::move(value);
}

void JsonObject::finish() const {
  for (const auto& [field, value] : members_) {
    if (!taken_.contains(field)) reject(value.path() + ": unknown field");
  }
}

Json parse_json(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    std::string what = error.what();
    const auto bracket = what.find("] ");
    if (bracket != std::string::npos) what.erase(0, bracket + 2);
    reject("not a JSON document: " + what);
  }
}

}  // namespace lossgrad

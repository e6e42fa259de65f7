// SPDX-License-Identifier: Apache-2.0
// Strict reading of a JSON document: every value knows its path, and every error names it with what was found
// and what was expected ("checks[3].kinks: found "many", expected a whole number of at least 0").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lossgrad {

// A value inside a document; valid while the document lives. Every reading function throws ErrorKind::data.
class JsonValue {
 public:
  JsonValue(const nlohmann::ordered_json& json, std::string path) : json_(&json), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] double number() const;  // a number, or "NaN", "Infinity", "-Infinity"
  [[nodiscard]] std::int64_t integer(std::int64_t least) const;
  [[nodiscard]] std::uint64_t unsigned_integer() const;
  [[nodiscard]] std::vector<JsonValue> elements() const;                         // of an array
  [[nodiscard]] std::vector<std::pair<std::string, JsonValue>> members() const;  // of an object, in order
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  const nlohmann::ordered_json* json_;
  std::string path_;
};

// An object of which every member must be asked for: finish() rejects members that nobody took.
class JsonObject {
 public:
  explicit JsonObject(const JsonValue& value);
  [[nodiscard]] JsonValue take(const std::string& field);  // a missing field is an error
  [[nodiscard]] std::optional<JsonValue> take_if_present(const std::string& field);
  void finish() const;

 private:
  std::string path_;
  std::vector<std::pair<std::string, JsonValue>> members_;
  std::set<std::string> taken_;
};

// Throws ErrorKind::data with line and column when `text` is not JSON.
nlohmann::ordered_json parse_json(const std::string& text);

}  // namespace lossgrad

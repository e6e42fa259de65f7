// SPDX-License-Identifier: Apache-2.0
// One entry of a COCO list: collects the fields that are read and judges them. Internal to the COCO reader.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/boxes.hpp"
#include "data/byte_source.hpp"

namespace lossgrad {

enum class JsonKind { null, boolean, integer, real, string, object, array };

// "a number", "an object", ...
std::string_view with_article(JsonKind kind);

struct CocoValue {
  JsonKind kind = JsonKind::null;
  double number = 0;                         // integer, real
  std::optional<std::int64_t> integer = {};  // an integer within 64 bits; a boolean as 0 or 1
  std::string_view string = {};
};

// Appends the box of each entry to the list. The first fault of an entry is kept until the entry ends, so
// that its message can name the entry's id, which often follows the fault.
class CocoEntry {
 public:
  CocoEntry(const ByteSource& source, BoxList& list) : source_(source), list_(list) {}

  // `path` names the entry in messages: "annotations[3]".
  void begin(std::string path);
  void key(std::string_view name);
  // The value of the last key; true where it opens the array of `bbox`, whose elements go to bbox_value.
  bool value(const CocoValue& value);
  void bbox_value(const CocoValue& value);
  void end_bbox();
  // Throws ErrorKind::data with the entry's path, the first fault, what was expected and the id.
  void end();
  // True where an entry so far had the key `iscrowd`.
  [[nodiscard]] bool any_crowd_key() const { return any_crowd_key_; }

 private:
  // The keys that are read; the last two only make a message clearer.
  enum class Field { bbox, image_id, category_id, score, iscrowd, id, keypoints, segmentation, other };
  static constexpr std::array<std::string_view, 8> kFieldNames = {
      "bbox", "image_id", "category_id", "score", "iscrowd", "id", "keypoints", "segmentation"};
  struct State {
    std::string path;
    std::string fault;
    Field field = Field::other;
    unsigned seen = 0;  // one bit per field
    std::array<double, 4> box = {};
    std::uint64_t numbers = 0;  // elements of bbox
    std::int64_t image_id = 0;
    std::int64_t category_id = 0;
    double score = 0;
    bool crowd = false;
    std::optional<std::int64_t> id;
  };

  static unsigned bit(Field field) { return 1U << static_cast<unsigned>(field); }
  static std::string name(Field field) { return std::string(kFieldNames[static_cast<std::size_t>(field)]); }
  [[nodiscard]] bool seen(Field field) const { return (state_.seen & bit(field)) != 0; }
  void complain(const std::string& what);
  void complain_of(const CocoValue& value, const std::string& expected);
  void read_whole_number(const CocoValue& value, bool or_digits, std::int64_t& into);
  void require_same_as_first(Field field, std::size_t stored);
  void append();

  const ByteSource& source_;
  BoxList& list_;
  State state_;
  bool any_crowd_key_ = false;
};

}  // namespace lossgrad

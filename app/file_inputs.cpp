// SPDX-License-Identifier: Apache-2.0
#include "app/file_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/loss_options.hpp"
#include "base/error.hpp"
#include "report/number_text.hpp"

namespace lossgrad::app {
namespace {

// bf16 has no files; of the others the one with more digits holds the values of all. JSON and integers count
// as f32.
void take_dtype(FileInputs& inputs, const std::string& stored_type) {
  const Dtype dtype = parse_dtype(stored_type).value_or(Dtype::f32);
  const bool wider =
      !inputs.stored_dtype || format_of(dtype).precision > format_of(*inputs.stored_dtype).precision;
  if (wider) inputs.stored_dtype = dtype;
}

// Inputs and constants come from files together or not at all; dy may be left to the generator.
std::vector<Argument> arguments_to_read(const Loss& loss, const CheckOptions& options) {
  std::vector<Argument> wanted;
  std::vector<std::string> missing;
  const std::vector<Argument> arguments = file_arguments(loss);
  for (const Argument& argument : arguments) {
    if (options.files.contains(argument.name)) {
      wanted.push_back(argument);
    } else if (argument.role != ArgumentRole::upstream) {
      missing.push_back("--" + argument.name);
    }
  }
  for (const auto& [name, path] : options.files) {
    const auto same = [&known = name](const Argument& argument) { return argument.name == known; };
    if (std::none_of(arguments.begin(), arguments.end(), same)) {
      throw Error(ErrorKind::usage, "--" + name + ": " + std::string(loss.name()) + " has no such argument");
    }
  }
  if (!missing.empty()) {
    throw Error(ErrorKind::usage, "--" + options.files.begin()->first + " needs " + missing.front() + " too");
  }
  return wanted;
}

// [count] boxes -> [4, count]
std::vector<double> component_major(const std::vector<std::array<double, 4>>& boxes) {
  std::vector<double> values(4 * boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t component = 0; component < 4; ++component)
      values[component * boxes.size() + i] = boxes[i][component];
  }
  return values;
}

// "1 pred box without a partner", "3 pred boxes ..."; nothing for none.
void add_note(FileInputs& inputs, std::int64_t count, const std::string& noun, const std::string& what) {
  if (count != 0) inputs.notes.push_back(counted(count, noun) + " " + what);
}

void add_box_notes(FileInputs& inputs, const std::string& argument, const BoxList& list) {
  const std::string box = argument + " box";
  add_note(inputs, list.non_finite, box,
           "with a NaN or infinite component, the first is box " + std::to_string(list.first_non_finite));
  add_note(inputs, list.zero_size, box, "of zero width or height");
  add_note(inputs, list.negative_size, box, "of negative width or height");
}

// Pairing by IoU leaves crowd boxes of the target out and says so; else they stand for single objects.
void add_crowd_note(FileInputs& inputs, const std::string& argument, const BoxList& list) {
  const auto crowd = std::count(list.crowd.begin(), list.crowd.end(), true);
  add_note(inputs, crowd, argument + " box", "marked as crowd, taken like the others");
}

void require_arrays_for_format(const std::vector<BoxList>& lists, const CheckOptions& options) {
  const auto is_json = [](const BoxList& list) { return list.stored_type == "json"; };
  if (options.box_format && std::all_of(lists.begin(), lists.end(), is_json))
    throw Error(ErrorKind::usage, "--box-format is for arrays: the boxes of COCO JSON are always xywh");
}

// Where an archive holds one array alone, that one is not taken for an argument when it has the name of
// another.
MemberChoice member_choice(const Loss& loss, const Argument& argument, const std::string& member) {
  MemberChoice choice{member, argument.name, {}};
  for (const Argument& other : file_arguments(loss)) {
    if (other.name != argument.name) choice.others.push_back(other.name);
  }
  return choice;
}

void read_boxes_of(FileInputs& inputs, const Loss& loss, const std::vector<Argument>& arguments,
                   const CheckOptions& options, const FileReaders& readers) {
  std::vector<BoxList> lists;
  for (const Argument& argument : arguments) {
    const auto [file, member] = array_place(options.files.at(argument.name));
    lists.push_back(readers.boxes(file, {options.box_format, member_choice(loss, argument, member)}));
    add_box_notes(inputs, argument.name, lists.back());
  }
  if (lists.size() != 2)
    throw Error(ErrorKind::internal, "box arguments that are no pair cannot be read from files");
  require_arrays_for_format(lists, options);
  const MatchRule rule = options.match.value_or(MatchRule::row);
  const BoxPairs pairs = pair_boxes(lists[0], lists[1], rule);
  for (std::size_t i = 0; i < (rule == MatchRule::row ? lists.size() : 1); ++i)
    add_crowd_note(inputs, arguments[i].name, lists[i]);
  add_note(inputs, pairs.unmatched_pred, arguments[0].name + " box", "without a partner left out");
  add_note(inputs, pairs.unmatched_target, arguments[1].name + " box", "without a partner left out");
  add_note(inputs, pairs.crowd, "crowd box", "of " + arguments[1].name + " left out");
  inputs.values[arguments[0].name] = component_major(pairs.pred);
  inputs.values[arguments[1].name] = component_major(pairs.target);
  inputs.sizes[arguments[0].axes[1]] = static_cast<std::int64_t>(pairs.pred.size());
  for (const BoxList& list : lists) take_dtype(inputs, list.stored_type);
}

std::string axes_text(const Argument& argument, const Sizes& sizes) {
  std::string text = "[";
  for (const std::string& axis : argument.axes) {
    const auto known = sizes.find(axis);
    text += (text.size() == 1 ? "" : ", ") + (known == sizes.end() ? axis : std::to_string(known->second));
  }
  return text + "]";
}

// A literal axis must agree, a named one agrees with what is known of it or makes it known.
bool axis_fits(const std::string& axis, std::int64_t length, Sizes& sizes) {
  if (const auto number = literal_axis(axis)) return *number == length;
  return sizes.emplace(axis, length).first->second == length;
}

std::string allowed_text(const std::vector<double>& allowed) {
  std::string text;
  for (const double value : allowed) text += (text.empty() ? "" : " or ") + shortest(value);
  return text;
}

// `values` hold one per item, or several: an item is a row of the file.
void require_allowed(const Argument& argument, const std::string& path, const std::vector<double>& values) {
  if (argument.allowed.empty()) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::find(argument.allowed.begin(), argument.allowed.end(), values[i]) != argument.allowed.end())
      continue;
    throw Error(ErrorKind::data, path + ": row " + std::to_string(i) + ": found " + shortest(values[i]) +
                                     ", expected " + allowed_text(argument.allowed) + " (--" + argument.name +
                                     ")");
  }
}

// Of an array with two axes.
std::int64_t zero_rows(const Array& array) {
  if (array.shape.size() != 2) return 0;
  const auto length = static_cast<std::ptrdiff_t>(array.shape[1]);
  std::int64_t count = 0;
  for (auto row = array.values.begin(); length > 0 && row != array.values.end(); row += length)
    count += std::all_of(row, row + length, [](double x) { return x == 0; }) ? 1 : 0;
  return count;
}

void read_array_of(FileInputs& inputs, const Loss& loss, const Argument& argument, const std::string& path,
                   const FileReaders& readers) {
  const auto [file, member] = array_place(path);
  Array array = readers.array(file, member_choice(loss, argument, member));
  const std::string expected = axes_text(argument, inputs.sizes);
  // A column of one value per item is what many tools write for a plain list.
  if (argument.axes.size() == 1 && array.shape.size() == 2 && array.shape[1] == 1) array.shape.pop_back();
  bool fits = array.shape.size() == argument.axes.size();
  for (std::size_t i = 0; fits && i < array.shape.size(); ++i) {
    fits = axis_fits(argument.axes[i], array.shape[i], inputs.sizes);
  }
  if (!fits) {
    throw Error(ErrorKind::data, path + ": found shape " + shape_text(array.shape) + ", expected " +
                                     expected + " for --" + argument.name);
  }
  require_allowed(argument, path, array.values);
  if (argument.role == ArgumentRole::input) {
    const auto finite = [](double x) { return std::isfinite(x); };
    const auto odd = std::count_if(array.values.begin(), array.values.end(), std::not_fn(finite));
    add_note(inputs, odd, "NaN or infinite value", "of " + argument.name);
    add_note(inputs, zero_rows(array), "row", "of " + argument.name + " with nothing but zeros");
  }
  if (argument.role != ArgumentRole::constant || argument.allowed.empty())
    take_dtype(inputs, array.stored_type);
  inputs.values[argument.name] = std::move(array.values);
}

// Sizes that files gave but no kernel takes, and files without any item of a size that has a least value.
void require_sizes(const Loss& loss, const FileInputs& inputs) {
  for (const SizeInfo& size : loss.sizes()) {
    const auto given = inputs.sizes.find(size.name);
    if (given == inputs.sizes.end() || (given->second >= size.least && given->second <= size.most)) continue;
    throw Error(ErrorKind::data, inputs.files.front().second + ": found " + size.name + " = " +
                                     std::to_string(given->second) + ", expected " +
                                     std::to_string(size.least) + " to " + std::to_string(size.most));
  }
}

}  // namespace

FileInputs read_file_inputs(const Loss& loss, const CheckOptions& options, const FileReaders& readers) {
  FileInputs inputs;
  std::vector<Argument> boxes;
  std::vector<Argument> arrays;
  for (const Argument& argument : arguments_to_read(loss, options)) {
    (is_box_argument(argument) ? boxes : arrays).push_back(argument);
    inputs.files.emplace_back(argument.name, options.files.at(argument.name));
  }
  if (options.match == MatchRule::iou && !arrays.empty()) {
    throw Error(ErrorKind::usage,
                "--" + arrays.front().name + " cannot follow the order that --match iou gives");
  }
  if (!boxes.empty()) read_boxes_of(inputs, loss, boxes, options, readers);
  for (const Argument& argument : arrays)
    read_array_of(inputs, loss, argument, options.files.at(argument.name), readers);
  require_sizes(loss, inputs);
  return inputs;
}

std::map<std::string, std::vector<double>> rounded_inputs(const FileInputs& files, Dtype dtype,
                                                          std::vector<std::string>& notes) {
  std::map<std::string, std::vector<double>> rounded = files.values;
  std::int64_t changed = 0;
  std::int64_t overflowed = 0;
  std::int64_t count = 0;
  for (auto& [argument, values] : rounded) {
    for (double& value : values) {
      const double stored = round_to(dtype, value);
      if (stored != value && !std::isnan(value)) (std::isinf(stored) ? overflowed : changed) += 1;
      value = stored;
    }
    count += static_cast<std::int64_t>(values.size());
  }
  const std::string of_all = " of " + grouped(count) + " values ";
  const std::string type(name(dtype));
  if (changed != 0) notes.push_back(grouped(changed) + of_all + "changed by rounding to " + type);
  if (overflowed != 0)
    notes.push_back(grouped(overflowed) + of_all + "became infinite: too large for " + type);
  return rounded;
}

}  // namespace lossgrad::app

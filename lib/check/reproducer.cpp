// SPDX-License-Identifier: Apache-2.0
#include "check/reproducer.hpp"

#include <algorithm>

#include "check/check_request.hpp"

namespace lossgrad {
namespace {

// Values of inputs and outputs of one pass of a case that is kept whole: at most 100 MB or so on disk.
constexpr std::int64_t kMostValues = std::int64_t{1} << 22;

bool is_whole(const CheckRequest& request, Pass pass) {
  const std::int64_t per_item = elements_per_item(request, own_kernel(request, pass, request.dtype));
  return request.sizes.at(request.loss->item_size()) * per_item <= kMostValues;
}

// Runs of neighbouring items: all of the case in one, or each item on its own.
struct ItemRun {
  std::int64_t first, count;
};
std::vector<ItemRun> runs_of(const CheckRequest& request, bool whole, const std::set<std::int64_t>& items) {
  if (whole) return {{0, request.sizes.at(request.loss->item_size())}};
  std::vector<ItemRun> runs;
  runs.reserve(items.size());
  for (const std::int64_t item : items) runs.push_back({item, 1});
  return runs;
}

std::int64_t count_of(const std::vector<ItemRun>& runs) {
  std::int64_t count = 0;
  for (const ItemRun& run : runs) count += run.count;
  return count;
}

std::vector<std::int64_t> shape_of(const CheckRequest& request, const Argument& argument,
                                   std::int64_t items) {
  const Sizes sizes = sizes_with(request, items);
  std::vector<std::int64_t> shape;
  for (const std::string& axis : argument.axes) shape.push_back(axis_length(argument, axis, sizes));
  return shape;
}

// An array of `items` items of an argument, filled run by run in the argument's layout.
class Gathered {
 public:
  Gathered(const CheckRequest& request, const Argument& argument, std::string name, Dtype dtype,
           std::int64_t items)
      : layout_(item_layout(request, argument)), items_(items) {
    array_ = {std::move(name), dtype, shape_of(request, argument, items), {}};
    array_.values.resize(static_cast<std::size_t>(items * layout_.per_item()));
  }

  void add(std::span<const double> values, std::int64_t count) {
    copy_items(layout_, count, values, {count, 0}, array_.values, {items_, done_});
    done_ += count;
  }
  NamedArray take() { return std::move(array_); }

 private:
  ItemLayout layout_;
  std::int64_t items_;
  std::int64_t done_ = 0;
  NamedArray array_;
};

NamedArray item_array(const std::string& name, const std::set<std::int64_t>& items) {
  return {name, Dtype::f64, {static_cast<std::int64_t>(items.size())}, {items.begin(), items.end()}};
}

std::vector<NamedArray> gather_inputs(const CheckRequest& request, const InputSource& source, Pass pass,
                                      const std::vector<ItemRun>& runs) {
  std::vector<std::string> names;
  std::vector<Gathered> arrays;
  const Kernel kernel = own_kernel(request, pass, request.dtype);
  for (const Argument& argument : kernel.arguments()) {
    if (!is_drawn(argument, pass)) continue;
    names.push_back(argument.name);
    arrays.emplace_back(request, argument, argument.name, request.dtype, count_of(runs));
  }
  for (const ItemRun& run : runs) {
    const Items items = source.read(run.first, run.count);
    for (std::size_t i = 0; i < names.size(); ++i) arrays[i].add(items.at(names[i]), run.count);
  }
  std::vector<NamedArray> inputs;
  inputs.reserve(arrays.size());
  for (Gathered& array : arrays) inputs.push_back(array.take());
  return inputs;
}

// got, expected_low, expected_high and bound of one output.
std::vector<Gathered> output_arrays(const CheckRequest& request, const Argument& argument,
                                    const std::string& check, std::int64_t items) {
  std::vector<Gathered> arrays;
  for (const char* what : {"got", "expected_low", "expected_high", "bound"}) {
    const Dtype dtype = arrays.empty() ? request.dtype : Dtype::f64;
    arrays.emplace_back(request, argument, check + "." + argument.name + "." + what, dtype, items);
  }
  return arrays;
}

}  // namespace

void FailureRecords::add_outputs(const KernelRun& run, const Kernel& kernel, const CheckResult& result) {
  if (!wanted()) return;
  const Pass pass = kernel.pass();
  std::set<std::int64_t> items;
  for (const WorstElement& element : result.worst) items.insert(element.item);
  const bool whole = is_whole(request_, pass);
  const std::vector<ItemRun> runs = runs_of(request_, whole, items);
  std::map<std::string, std::vector<Gathered>> gathered;
  for (const Argument& argument : kernel.arguments()) {
    if (argument.is_array() && is_written(argument, pass))
      gathered.emplace(argument.name, output_arrays(request_, argument, result.check, count_of(runs)));
  }
  for (const ItemRun& part : runs) {
    const Items values = run.read(kernel.arguments(), part.first, part.count);
    Reference reference;
    request_.loss->evaluate({pass, request_.dtype, request_.convention}, values, reference);
    for (auto& [output, arrays] : gathered) {
      const ReferenceValues& right = reference.at(output);
      arrays[0].add(values.at(output), part.count);
      arrays[1].add(right.low, part.count);
      arrays[2].add(right.high, part.count);
      arrays[3].add(right.bound, part.count);
    }
  }
  for (auto& [output, arrays] : gathered) {
    for (Gathered& array : arrays) outputs_[pass].push_back(array.take());
  }
  if (!whole) outputs_[pass].push_back(item_array(result.check + ".items", items));
  items_[pass].insert(items.begin(), items.end());
}

void FailureRecords::hand_over(const InputSource& source, const std::vector<CheckResult>& results) {
  if (!wanted()) return;
  for (const Pass pass : request_.passes) {
    const bool failed = std::any_of(results.begin(), results.end(), [&](const CheckResult& result) {
      return result.case_id.pass == pass && result.verdict == Verdict::failed;
    });
    if (!failed) continue;
    FailedPass record;
    record.pass = pass;
    record.whole_case = is_whole(request_, pass);
    record.inputs = gather_inputs(request_, source, pass, runs_of(request_, record.whole_case, items_[pass]));
    record.outputs = std::move(outputs_[pass]);
    if (!record.whole_case && !record.outputs.empty())
      record.outputs.push_back(item_array("items", items_[pass]));
    request_.on_failed_pass(std::move(record));
  }
}

}  // namespace lossgrad

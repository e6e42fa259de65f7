// SPDX-License-Identifier: Apache-2.0
// What the engines know about a loss. A loss is one object of a class derived from Loss, in its own folder,
// named in losses.def. Numbers here are double: every f16, bf16, f32 or f64 storage value is one exactly.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

struct Fault;  // losses/fault.hpp

struct NamedChoice {
  std::string name;
  std::string summary;  // one line
};

struct ScenarioInfo {
  std::string name;
  std::string summary;         // the distribution, one line
  bool made_of_kinks = false;  // many elements, in some types nearly all, are kinks: the hull is the point
  // Many gradients are zero within their bounds, in small cases perhaps all, and that they come out so is the
  // point.
  bool made_of_zeros = false;
};

inline constexpr std::int64_t kLargestSize = 2147483647;  // sizes reach a kernel as i32

// A size of the loss's arguments, and --FIELD (results/size_fields.hpp) with its values.
struct SizeInfo {
  std::string name;  // "N", "n_dim"
  std::int64_t standard = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::string summary;  // one line
};

// A scalar that a kernel takes by value as f32, and --NAME with its value.
struct ParameterInfo {
  std::string name;  // "margin"
  double standard = 0;
  std::string summary;  // one line
};
using Parameters = std::map<std::string, double>;  // values as f32 holds them

// The compile-time constant that decides how a kernel divides its work, and --NAME with dashes.
struct BlockInfo {
  std::string name;     // "block_n"
  std::string summary;  // one line: which values there are, which is the default
};

inline constexpr int kOwnBlock = -1;  // the loss's own choice for the sizes

struct KernelOptions {
  Pass pass = Pass::forward;
  Dtype dtype = Dtype::f32;
  std::string convention;
  int block = kOwnBlock;
  Sizes sizes = {};  // of the case; what is missing has its default
};

// Values of a run of items (boxes, rows): argument name -> values in the argument's layout, with the item
// axis cut to the run. pred [4, N] becomes [4, count]. `sizes` and `parameters` are the case's.
struct Items {
  std::int64_t first = 0;  // index of the first item in the case
  std::int64_t count = 0;
  std::map<std::string, std::vector<double>> values;
  Sizes sizes;
  Parameters parameters;
  [[nodiscard]] std::span<const double> at(const std::string& argument) const;
};

// Right values of one output for a run of items, in the output's layout. Element e is right when
// low[e] - bound[e] <= got <= high[e] + bound[e]; low < high where a branch is undecidable (a kink), else
// by rounding at most (two forms of the formula).
struct ReferenceValues {
  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> bound;  // for any right kernel; infinity: unbounded
  // The same for the accurate form that the built-in kernels use: nearer to the exact value, fewer kinks.
  std::vector<double> sharp_low;
  std::vector<double> sharp_high;
  std::vector<double> sharp_bound;
  std::vector<std::uint8_t> flags;  // ElementFlag bits

  void resize(std::size_t elements);
};
enum ElementFlag : std::uint8_t {
  kKink = 1,
  // An intermediate is infinite or may be (a division by zero or by what rounding may make zero), or the
  // output itself leaves the storage type's range: a non-finite result is accepted. Counted.
  kOutOfRange = 2,
  // An intermediate overflows the compute type: what comes out says nothing (1/infinity is 0). Counted, not
  // compared.
  kOverflow = 4,
  // The right value is NaN, but a branch that takes a NaN as false gives zero: right as well.
  kZeroToo = 8,
  // The right value is NaN because an input is infinite, and a form that leaves out what it multiplies by
  // zero gives a number: anything is right.
  kNanOfInfinity = 16,
};
using Reference = std::map<std::string, ReferenceValues>;

struct ReferenceRequest {
  Pass pass = Pass::forward;
  Dtype dtype = Dtype::f32;  // storage type; the bound is that of its compute type
  std::string convention;
};

// Independent values of the gradient of one item, all in double.
struct GradientOracles {
  std::vector<double>
      closed;  // dy = 1; components of all differentiated inputs, in the order of the gradients
  std::vector<double> closed_error;  // its rounding error bound; infinite where double's range does not do
  std::vector<double> point;         // where: the differentiated inputs
  // Per component: a step that crosses no kink and is small on the loss's scale; 0 at a kink. Where there are
  // more than kMostCoordinates components the smallest of them holds along every direction of length 1.
  std::vector<double> smooth_radius;
};

// Of an item with more differentiated components than this only some are looked at one by one.
inline constexpr std::size_t kMostCoordinates = 8;

// One of the terms whose sum the outputs of a pass are.
struct LossPart {
  std::string name;                                   // "distance"
  std::string label;                                  // in sentences: "distance part"
  std::map<std::string, std::vector<double>> values;  // output -> its components of one item
};

class Loss {
 public:
  Loss() = default;
  virtual ~Loss() = default;
  Loss(const Loss&) = delete;
  Loss& operator=(const Loss&) = delete;
  Loss(Loss&&) = delete;
  Loss& operator=(Loss&&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;                  // one line
  [[nodiscard]] virtual std::span<const NamedChoice> conventions() const = 0;  // the default first
  [[nodiscard]] virtual std::span<const ScenarioInfo> scenarios() const = 0;
  [[nodiscard]] virtual std::string default_scenario() const = 0;
  [[nodiscard]] virtual std::string item_name() const = 0;  // "box", "row"
  [[nodiscard]] virtual std::string item_size() const = 0;  // the size that counts items: "N", "n_rows"
  [[nodiscard]] virtual std::span<const SizeInfo> sizes() const = 0;
  [[nodiscard]] virtual std::span<const ParameterInfo> parameters() const { return {}; }
  [[nodiscard]] virtual const BlockInfo& block() const = 0;

  // Command lines for --help, from the loss's name on: "ciou --n 1M --dtype f32,f16". The first is the
  // simplest.
  [[nodiscard]] virtual std::span<const std::string> examples() const = 0;

  // Throws ErrorKind::usage, with the flag, for a block that the loss's kernels do not take.
  [[nodiscard]] virtual Kernel kernel(const KernelOptions& options) const = 0;
  // Blocks that the repeatability check compares; each gives the same bits. Empty where the block decides the
  // order of a sum.
  [[nodiscard]] virtual std::span<const int> repeatability_blocks() const = 0;

  // Inputs and dy of items [first, first + count), rounded to `dtype`. Item i depends only on scenario,
  // dtype, seed, i, the sizes besides the number of items, and the parameters.
  virtual void generate(std::string_view scenario, Dtype dtype, std::uint64_t seed, Items& items) const = 0;

  // Right values and bounds of every output of the pass. `items` holds inputs, constants and, for backward,
  // dy. For backward the saved arguments are consistent with the inputs, rounded to dtype: the bound covers
  // kernels that read them and kernels that compute them again.
  virtual void evaluate(const ReferenceRequest& request, const Items& items, Reference& reference) const = 0;

  // Oracles of item `index` of `items` (dy taken as 1).
  [[nodiscard]] virtual GradientOracles oracles(std::string_view convention, const Items& items,
                                                std::int64_t index) const = 0;
  // Derivative of the value along `direction` (as long as GradientOracles::point) by automatic
  // differentiation, what the convention holds fixed held fixed.
  [[nodiscard]] virtual double derivative_along(std::string_view convention, const Items& items,
                                                std::int64_t index,
                                                std::span<const double> direction) const = 0;
  // The loss's value in double with the differentiated inputs of the item replaced by `point`; what the
  // convention holds fixed stays at the item's own values.
  [[nodiscard]] virtual double value_at(std::string_view convention, const Items& items, std::int64_t index,
                                        std::span<const double> point) const = 0;
  // Whether at these sizes every gradient is zero, so that a kernel of zeros is right.
  [[nodiscard]] virtual bool gradients_vanish(const Sizes& /*sizes*/) const { return false; }
  // Deviations that selftest injects and a diagnosis names, and the sizes of a small case in which they show.
  [[nodiscard]] virtual const std::vector<Fault>& faults() const = 0;
  [[nodiscard]] virtual Sizes selftest_sizes() const = 0;
  // The loss's value from a forward kernel's outputs of one item (argument name -> components), with what the
  // convention holds fixed taken from the outputs at the base point.
  using ItemOutputs = std::map<std::string, std::vector<double>>;
  [[nodiscard]] virtual double value_from_outputs(std::string_view convention, const ItemOutputs& outputs,
                                                  const ItemOutputs& base) const = 0;

  // The parts of item `index`, in double, always the same ones in the same order. Their sum is the right
  // value of each output that any of them names, away from kinks. Empty: the loss has none.
  [[nodiscard]] virtual std::vector<LossPart> parts(Pass /*pass*/, std::string_view /*convention*/,
                                                    const Items& /*items*/, std::int64_t /*index*/) const {
    return {};
  }
};

Sizes default_sizes(const Loss& loss);
Parameters default_parameters(const Loss& loss);

// Every loss of losses.def.
std::span<const Loss* const> all_losses();
// Throws ErrorKind::usage with the nearest names.
const Loss& find_loss(std::string_view name);

}  // namespace lossgrad

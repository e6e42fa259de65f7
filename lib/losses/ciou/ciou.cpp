// SPDX-License-Identifier: Apache-2.0
// CIoU as the engines see it: what its arguments, kernels, scenarios and reference are, and its oracles.
#include "losses/ciou/ciou.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "losses/ciou/ciou_faults.hpp"
#include "losses/ciou/ciou_kernel.hpp"
#include "losses/ciou/ciou_parts.hpp"
#include "losses/ciou/ciou_reference.hpp"
#include "losses/ciou/ciou_scenarios.hpp"
#include "losses/loss.hpp"
#include "losses/named.hpp"

namespace lossgrad {
namespace {

// The value with alpha as the convention differentiates it: through, or fixed at `fixed_alpha`.
template <class T>
T value_for_derivatives(const CiouBox<T>& pred, const CiouBox<T>& target, const CiouConvention& convention,
                        double fixed_alpha) {
  const CiouValues<T> r = ciou_values(pred, target, convention, CiouForm::centre, false);
  const T alpha = convention.alpha_through ? r.alpha : T(fixed_alpha);
  return ciou_clamped_loss(T(T(1.0) - r.iou + r.d2 / r.c2_eps + alpha * r.v), convention);
}

// The distance along one axis to the nearest kink.
double to_kink(double pc, double pw, double tc, double tw) {
  const double growth = 0.5 * (pw - tw), apart = pc - tc;
  return std::min({std::abs(apart + growth), std::abs(apart - growth),
                   std::abs(0.5 * (pw + tw) - std::abs(apart)), std::abs(pw)});
}

// Steps of centre and size along each axis that cross no kink (a quarter of the way to the nearest) and are
// small against the lengths on which the loss changes: the sizes, and where eps matters the denominators.
std::array<double, 2> smooth_radii(const CiouBox<double>& pred, const CiouBox<double>& target,
                                   const CiouConvention& convention) {
  const CiouValues<double> r = ciou_values(pred, target, convention, CiouForm::centre, false);
  const double largest =
      std::max({std::abs(pred.cx), std::abs(pred.cy), std::abs(pred.w), std::abs(pred.h), std::abs(target.cx),
                std::abs(target.cy), std::abs(target.w), std::abs(target.h)});
  constexpr double kLargest = 1e70;  // automatic differentiation squares the denominators
  if (!(largest < kLargest)) return {0, 0};
  const double sides = std::max({std::abs(pred.w), std::abs(pred.h), r.x.overlap, r.y.overlap});
  const double height = std::abs(pred.h + convention.aspect_eps);
  const double alpha_denominator = std::abs(1 - r.iou + r.v + convention.alpha_eps);
  double scale = 0.05 * std::min({std::sqrt(std::abs(r.c2_eps)), std::abs(r.union_eps) / sides, height,
                                  alpha_denominator * std::abs(r.union_eps) / sides});
  // Sizes of at least 0 leave the loss between 0 and 2; else it changes by less than 1 on such a step.
  const bool proper = std::min({pred.w, pred.h, target.w, target.h}) >= 0;
  if (convention.loss_clamped && !proper) scale *= std::clamp(std::min(r.loss, 2 - r.loss), 0.0, 1.0);
  double along_x = std::min({0.25 * to_kink(pred.cx, pred.w, target.cx, target.w), 0.05 * std::abs(pred.w)});
  double along_y = std::min({0.25 * to_kink(pred.cy, pred.h, target.cy, target.h), 0.05 * std::abs(pred.h)});
  if (convention.enclosing_clamped) {
    along_x = std::min(along_x, 0.25 * r.x.enclosing);
    along_y = std::min(along_y, 0.25 * r.y.enclosing);
  }
  return {std::min(along_x, scale), std::min(along_y, scale)};
}

class CiouLoss final : public Loss {
 public:
  std::string_view name() const override { return "ciou"; }
  std::string_view summary() const override { return "complete IoU loss of box pairs (cx, cy, w, h)"; }
  std::span<const NamedChoice> conventions() const override {
    static const std::vector<NamedChoice> choices = choices_of(ciou_conventions());
    return choices;
  }
  std::span<const ScenarioInfo> scenarios() const override { return ciou_scenarios(); }
  std::string default_scenario() const override { return "mixed"; }
  std::string item_name() const override { return "box"; }
  std::string item_size() const override { return "N"; }
  std::span<const SizeInfo> sizes() const override {
    // Beyond 2^16 and no multiple of any block: what is indexed with too few bits or loses its tail shows.
    static const std::array<SizeInfo, 1> infos = {{{"N", 100003, 0, kLargestSize, "boxes"}}};
    return infos;
  }
  const BlockInfo& block() const override { return ciou_block(); }
  std::span<const std::string> examples() const override {
    static const std::vector<std::string> examples = {
        "ciou --n 1M --dtype f32,f16", "ciou --pass backward --scenario touching,identical --backend host",
        "ciou --dtype all --n 1k:1M:x10 --scenario all --json run.json",
        "ciou --pred boxes.npy --target truth.npy --box-format xyxy",
        "ciou --pred detections.json --target annotations.json --match iou"};
    return examples;
  }

  Kernel kernel(const KernelOptions& options) const override {
    const CiouConvention& convention = find_ciou_convention(options.convention);
    const int block = options.block == kOwnBlock ? kCiouDefaultBlock : options.block;
    switch (options.pass) {
      case Pass::forward:
        return YoloCiouLossForward(options.dtype, block, convention);
      case Pass::backward:
        return YoloCiouLossBackward(options.dtype, block, convention);
      case Pass::forward_backward:
        break;
    }
    throw Error(ErrorKind::usage, "ciou has no kernel for the pass forward_backward");
  }
  std::span<const int> repeatability_blocks() const override {
    static constexpr std::array kBlocks = {32, 96, 256, 512, 1024};
    return kBlocks;
  }
  const std::vector<Fault>& faults() const override { return ciou_faults(); }
  Sizes selftest_sizes() const override { return {{"N", 3000}}; }

  void generate(std::string_view scenario, Dtype dtype, std::uint64_t seed, Items& items) const override;
  void evaluate(const ReferenceRequest& request, const Items& items, Reference& reference) const override {
    evaluate_ciou(request, items, reference);
  }
  GradientOracles oracles(std::string_view convention, const Items& items, std::int64_t index) const override;
  double derivative_along(std::string_view convention, const Items& items, std::int64_t index,
                          std::span<const double> direction) const override;
  double value_at(std::string_view convention, const Items& items, std::int64_t index,
                  std::span<const double> point) const override;
  double value_from_outputs(std::string_view convention, const ItemOutputs& outputs,
                            const ItemOutputs& base) const override;
  std::vector<LossPart> parts(Pass pass, std::string_view convention, const Items& items,
                              std::int64_t index) const override {
    const double dy = pass == Pass::forward ? 0 : items.at("dy")[static_cast<std::size_t>(index)];
    return ciou_parts(pass, find_ciou_convention(convention),
                      ciou_box_at<double>(items.at("pred"), items.count, index),
                      ciou_box_at<double>(items.at("target"), items.count, index), dy);
  }
};

void CiouLoss::generate(std::string_view scenario, Dtype dtype, std::uint64_t seed, Items& items) const {
  const CiouSampler sampler(scenario);
  const auto count = static_cast<std::size_t>(items.count);
  auto& pred = items.values["pred"];
  auto& target = items.values["target"];
  auto& dy = items.values["dy"];
  pred.resize(4 * count), target.resize(4 * count), dy.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CiouSample sample = sampler(dtype, seed, items.first + static_cast<std::int64_t>(i));
    for (std::size_t c = 0; c < 4; ++c) {
      pred[c * count + i] = sample.pred[c];
      target[c * count + i] = sample.target[c];
    }
    dy[i] = sample.dy;
  }
}

GradientOracles CiouLoss::oracles(std::string_view convention_name, const Items& items,
                                  std::int64_t index) const {
  const CiouConvention& convention = find_ciou_convention(convention_name);
  GradientOracles oracles;
  const CiouClosedGradient closed = ciou_closed_gradient(items, index, convention);
  oracles.closed.assign(closed.values.begin(), closed.values.end());
  oracles.closed_error.assign(closed.errors.begin(), closed.errors.end());

  const CiouBox<double> point = ciou_box_at<double>(items.at("pred"), items.count, index);
  oracles.point = {point.cx, point.cy, point.w, point.h};
  const auto fixed = ciou_box_at<double>(items.at("target"), items.count, index);
  const auto [along_x, along_y] = smooth_radii(point, fixed, convention);
  oracles.smooth_radius = {along_x, along_y, along_x, along_y};
  return oracles;
}

double CiouLoss::derivative_along(std::string_view convention_name, const Items& items, std::int64_t index,
                                  std::span<const double> direction) const {
  const CiouConvention& convention = find_ciou_convention(convention_name);
  const auto pred = ciou_box_at<double>(items.at("pred"), items.count, index);
  const auto target = ciou_box_at<double>(items.at("target"), items.count, index);
  const double alpha = ciou_values(pred, target, convention, CiouForm::centre, false).alpha;
  using Slope = Dual<1>;
  const auto moving = [&](double x, std::size_t component) {
    return Slope(x, Slope::DerType(direction[component]));
  };
  const CiouBox<Slope> moved{moving(pred.cx, 0), moving(pred.cy, 1), moving(pred.w, 2), moving(pred.h, 3)};
  return value_for_derivatives(moved, ciou_box_at<Slope>(items.at("target"), items.count, index), convention,
                               alpha)
      .derivatives()[0];
}

double CiouLoss::value_at(std::string_view convention_name, const Items& items, std::int64_t index,
                          std::span<const double> point) const {
  const CiouConvention& convention = find_ciou_convention(convention_name);
  const auto target = ciou_box_at<double>(items.at("target"), items.count, index);
  const auto base = ciou_box_at<double>(items.at("pred"), items.count, index);
  const double alpha =
      convention.alpha_through ? 0 : ciou_values(base, target, convention, CiouForm::centre, false).alpha;
  return value_for_derivatives(CiouBox<double>{point[0], point[1], point[2], point[3]}, target, convention,
                               alpha);
}

double CiouLoss::value_from_outputs(std::string_view convention_name, const ItemOutputs& outputs,
                                    const ItemOutputs& base) const {
  const double loss = outputs.at("loss").front();
  if (find_ciou_convention(convention_name).alpha_through) return loss;
  return loss + (base.at("alpha").front() - outputs.at("alpha").front()) * outputs.at("v").front();
}

}  // namespace

const Loss& ciou_loss() {
  static const CiouLoss loss;
  return loss;
}

}  // namespace lossgrad

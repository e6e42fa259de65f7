// SPDX-License-Identifier: Apache-2.0
// A loss's scenarios by name and by place: the place is part of what a scenario draws.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

template <class Draw>
struct Scenario {
  ScenarioInfo info;
  Draw draw;           // null for a mixture of the others
  bool finite = true;  // those that are not stand at the end, and no mixture draws from them
};

template <class Draw>
class ScenarioTable {
 public:
  ScenarioTable(std::string loss, std::vector<Scenario<Draw>> scenarios) : loss_(std::move(loss)) {
    for (Scenario<Draw>& scenario : scenarios) {
      infos_.push_back(std::move(scenario.info));
      draws_.push_back(scenario.draw);
      if (scenario.finite) finite_ = draws_.size();
    }
  }

  [[nodiscard]] std::span<const ScenarioInfo> infos() const { return infos_; }
  [[nodiscard]] std::size_t size() const { return infos_.size(); }
  [[nodiscard]] Draw draw(std::size_t index) const { return draws_[index]; }
  [[nodiscard]] bool finite(std::size_t index) const { return index < finite_; }
  // The last that a mixture draws from.
  [[nodiscard]] std::int64_t last_finite() const { return static_cast<std::int64_t>(finite_) - 1; }

  // Throws ErrorKind::internal for an unknown name (the command line has checked it).
  [[nodiscard]] std::size_t index_of(std::string_view name) const {
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      if (infos_[i].name == name) return i;
    }
    throw Error(ErrorKind::internal, "unknown " + loss_ + " scenario " + std::string(name));
  }

 private:
  std::string loss_;
  std::vector<ScenarioInfo> infos_;
  std::vector<Draw> draws_;
  std::size_t finite_ = 0;
};

}  // namespace lossgrad

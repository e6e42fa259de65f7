// SPDX-License-Identifier: Apache-2.0
// A progress bar on one line of a terminal. It appears only when the work takes longer than kDelay, is drawn
// at most once per kInterval, is cut to the terminal's width, and is gone when the object is.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string_view>

namespace lossgrad {

class ProgressBar {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;
  static constexpr std::chrono::milliseconds kDelay{300};
  static constexpr std::chrono::milliseconds kInterval{100};

  // The width of the terminal at the moment; 0 when it is not known.
  using Columns = std::function<std::size_t()>;

  // Nothing is ever written when not `enabled` (the stream is no terminal, or --quiet).
  ProgressBar(std::ostream& out, bool enabled, Columns columns = {}, Now now = Clock::now);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ProgressBar(ProgressBar&&) = delete;
  ProgressBar& operator=(ProgressBar&&) = delete;

  void update(double fraction, std::string_view label);  // fraction of all work, 0..1
  void erase();  // so that other text can be written; the next update draws again

 private:
  std::ostream& out_;
  bool enabled_;
  bool drawn_ = false;
  Columns columns_;
  Now now_;
  Clock::time_point next_;
};

}  // namespace lossgrad

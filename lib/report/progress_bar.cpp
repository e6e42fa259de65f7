// SPDX-License-Identifier: Apache-2.0
#include "report/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

namespace lossgrad {
namespace {

constexpr int kCells = 30;
constexpr std::size_t kLongestLabel = 40;

std::string bar_text(double fraction, std::string_view label) {
  const double clamped = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const auto full = static_cast<std::size_t>(clamped * kCells);
  const std::string percent = std::to_string(static_cast<int>(clamped * 100));
  std::string text = "[";
  text.append(full, '#').append(kCells - full, '.').append("] ");
  text.append(3 - percent.size(), ' ').append(percent).append(" %  ").append(label.substr(0, kLongestLabel));
  return text;
}

}  // namespace

ProgressBar::ProgressBar(std::ostream& out, bool enabled, Now now)
    : out_(out), enabled_(enabled), now_(std::move(now)), next_(now_() + kDelay) {}

ProgressBar::~ProgressBar() { erase(); }

void ProgressBar::update(double fraction, std::string_view label) {
  if (!enabled_) return;
  const Clock::time_point now = now_();
  if (now < next_) return;
  next_ = now + kInterval;
  drawn_ = true;
  out_ << '\r' << bar_text(fraction, label) << "\x1b[K" << std::flush;
}

void ProgressBar::erase() {
  if (!drawn_) return;
  drawn_ = false;
  out_ << "\r\x1b[K" << std::flush;
}

}  // namespace lossgrad

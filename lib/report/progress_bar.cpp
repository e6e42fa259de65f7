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

constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kFewestColumns = 8;  // room for the percentage

// Leaves the last column free: a cursor beyond it would wrap, and the next update begin a new line.
std::string bar_text(double fraction, std::string_view label, std::size_t columns) {
  const double clamped = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const auto full = static_cast<std::size_t>(clamped * kCells);
  const std::string percent = std::to_string(static_cast<int>(clamped * 100));
  constexpr std::size_t kBarColumns = kCells + 8;  // [] and the percentage
  std::string text;
  if (columns > kBarColumns) text.append("[").append(full, '#').append(kCells - full, '.').append("] ");
  text.append(3 - percent.size(), ' ').append(percent).append(" %  ").append(label.substr(0, kLongestLabel));
  return text.substr(0, columns - 1);
}

}  // namespace

ProgressBar::ProgressBar(std::ostream& out, bool enabled, Columns columns, Now now)
    : out_(out),
      enabled_(enabled),
      columns_(std::move(columns)),
      now_(std::move(now)),
      next_(now_() + kDelay) {}

ProgressBar::~ProgressBar() { erase(); }

void ProgressBar::update(double fraction, std::string_view label) {
  if (!enabled_) return;
  const Clock::time_point now = now_();
  if (now < next_) return;
  next_ = now + kInterval;
  const std::size_t known = columns_ ? columns_() : 0;
  const std::size_t columns = known == 0 ? kUsualColumns : known;
  if (columns < kFewestColumns) return;
  drawn_ = true;
  out_ << '\r' << bar_text(fraction, label, columns) << "\x1b[K" << std::flush;
}

void ProgressBar::erase() {
  if (!drawn_) return;
  drawn_ = false;
  out_ << "\r\x1b[K" << std::flush;
}

}  // namespace lossgrad

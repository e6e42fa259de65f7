// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <memory>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace lossgrad {

void set_up_log(Verbosity verbosity) {
  auto logger =
      std::make_shared<spdlog::logger>("lossgrad", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("lossgrad: %l: %v");
  switch (verbosity) {
    case Verbosity::quiet:
    case Verbosity::normal:
      logger->set_level(spdlog::level::warn);
      break;
    case Verbosity::verbose:
      logger->set_level(spdlog::level::debug);
      break;
  }
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace lossgrad

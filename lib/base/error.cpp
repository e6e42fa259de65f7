// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <utility>

namespace lossgrad {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::data:
      return 3;
    case ErrorKind::compile:
      return 4;
    case ErrorKind::device:
      return 5;
    case ErrorKind::internal:
      return 70;
  }
  return 70;
}

Error::Error(ErrorKind kind, const std::string& message, std::string detail)
    : std::runtime_error(message), kind_(kind), detail_(std::move(detail)) {}

}  // namespace lossgrad

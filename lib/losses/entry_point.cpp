// SPDX-License-Identifier: Apache-2.0
#include "losses/entry_point.hpp"

#include <vector>

#include "losses/storage_source.hpp"

namespace lossgrad {
namespace {

constexpr std::size_t kLineLength = 100;

std::string declaration(const Argument& argument, Pass pass, const std::string& storage_type) {
  if (argument.role == ArgumentRole::size) return "int " + argument.name;
  if (argument.role == ArgumentRole::parameter) return "float " + argument.name;
  const std::string constness = is_written(argument, pass) ? "" : "const ";
  return constness + storage_type + "* __restrict__ " + argument.name;
}

// "a, b, c", broken into lines.
std::string listed(const std::vector<std::string>& items) {
  std::string text;
  std::size_t line_begin = 0;
  for (const std::string& item : items) {
    if (text.empty()) {
      text += item;
    } else if (text.size() - line_begin + item.size() > kLineLength) {
      text += ",\n    ";
      line_begin = text.size();
      text += item;
    } else {
      text += ", " + item;
    }
  }
  return text;
}

}  // namespace

std::string entry_point_source(const Kernel::Parts& parts, const std::string& constants) {
  const std::string storage_type(cuda_type_name(parts.dtype));
  std::vector<std::string> declared, passed;
  for (const Argument& argument : parts.arguments) {
    declared.push_back(declaration(argument, parts.pass, storage_type));
    passed.push_back(argument.name);
  }
  return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(parts.launch.threads_per_block) +
         ", 1)\n" + parts.name + "_entry_point(\n    " + listed(declared) +
         ") {\n  using D = " + storage_type + ";\n  " + parts.name + "<D, " + constants + ">(" +
         listed(passed) + ");\n}\n";
}

}  // namespace lossgrad

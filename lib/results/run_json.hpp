// SPDX-License-Identifier: Apache-2.0
// The JSON document of a run (data/schema/run.schema.json). Non-finite numbers are the strings "NaN",
// "Infinity" and "-Infinity"; everything else follows RFC 8259.
#pragma once

#include <string>

#include "results/results.hpp"

namespace lossgrad {

std::string to_json(const Run& run);         // indented, ends with a line feed
Run run_from_json(const std::string& text);  // ErrorKind::data: JSON path, what was found, what was expected

}  // namespace lossgrad

// SPDX-License-Identifier: Apache-2.0
// Random changes to a file's bytes, chosen for headers, JSON and command lines.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace lossgrad::fuzz {

// One to four changes of a sample: bit flips, truncation, removed, repeated or spliced parts, replaced
// digits and numbers, inserted tokens. The same generator state gives the same bytes on every platform.
std::string mutate(const std::vector<std::string>& corpus, std::mt19937_64& random);

}  // namespace lossgrad::fuzz

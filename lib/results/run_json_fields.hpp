// SPDX-License-Identifier: Apache-2.0
// Field names of the JSON document that writer and reader share.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "results/results.hpp"

namespace lossgrad {

inline constexpr int kSchemaVersion = 1;

template <class Owner, class Member>
using JsonField = std::pair<const char*, Member Owner::*>;

inline constexpr std::array<JsonField<Distribution, double>, 4> kDistributionFields = {{
    {"max", &Distribution::max},
    {"q999", &Distribution::q999},
    {"q99", &Distribution::q99},
    {"q50", &Distribution::q50},
}};

inline constexpr std::array<JsonField<WorstElement, double>, 8> kWorstFields = {{
    {"got", &WorstElement::got},
    {"expected_low", &WorstElement::expected_low},
    {"expected_high", &WorstElement::expected_high},
    {"bound", &WorstElement::bound},
    {"bound_usage", &WorstElement::bound_usage},
    {"abs_error", &WorstElement::abs_error},
    {"rel_error", &WorstElement::rel_error},
    {"ulp_error", &WorstElement::ulp_error},
}};

inline constexpr std::array<JsonField<CheckResult, std::int64_t>, 5> kCountFields = {{
    {"compared", &CheckResult::compared},
    {"kinks", &CheckResult::kinks},
    {"out_of_range", &CheckResult::out_of_range},
    {"unbounded", &CheckResult::unbounded},
    {"non_finite_items", &CheckResult::non_finite_items},
}};

inline constexpr std::array<JsonField<CheckResult, std::optional<Distribution>>, 5> kCheckDistributionFields =
    {{
        {"bound_usage", &CheckResult::bound_usage},
        {"sharp_bound_usage", &CheckResult::sharp_bound_usage},
        {"abs_error", &CheckResult::abs_error},
        {"rel_error", &CheckResult::rel_error},
        {"ulp_error", &CheckResult::ulp_error},
    }};

inline constexpr std::array<JsonField<Summary, std::int64_t>, 5> kSummaryFields = {{
    {"passed", &Summary::passed},
    {"failed", &Summary::failed},
    {"mistrusted", &Summary::mistrusted},
    {"unsupported", &Summary::unsupported},
    {"skipped", &Summary::skipped},
}};

}  // namespace lossgrad

// SPDX-License-Identifier: Apache-2.0
#include "results/run_json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "results/run_json_fields.hpp"
#include "results/size_fields.hpp"

namespace lossgrad {
namespace {

using Json = nlohmann::ordered_json;

Json number_json(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json distribution_json(const Distribution& distribution) {
  Json json = Json::object();
  for (const auto& [field, member] : kDistributionFields) json[field] = number_json(distribution.*member);
  return json;
}

Json worst_json(const WorstElement& element) {
  Json json = {{"output", element.output}, {"item", element.item}, {"component", element.component}};
  for (const auto& [field, member] : kWorstFields) json[field] = number_json(element.*member);
  json["kink"] = element.kink;
  json["note"] = element.note;
  Json inputs = Json::object();
  for (const auto& [argument, values] : element.inputs) {
    Json array = Json::array();
    for (const double value : values) array.push_back(number_json(value));
    inputs[argument] = std::move(array);
  }
  json["inputs"] = std::move(inputs);
  return json;
}

void add_case(Json& json, const CaseId& id) {
  json["loss"] = id.loss;
  json["pass"] = name(id.pass);
  json["convention"] = id.convention;
  json["dtype"] = name(id.dtype);
  for (const auto& [size, value] : id.sizes) json[std::string(field_of_size(size))] = value;
  Json parameters = Json::object();
  for (const auto& [parameter, value] : id.parameters) parameters[parameter] = number_json(value);
  json["parameters"] = std::move(parameters);
  json["scenario"] = id.scenario;
  json["seed"] = id.seed;
  json["backend"] = id.backend;
  json["kernel_id"] = id.kernel_id;
  json["kernel_hash"] = id.kernel_hash;
  Json files = Json::object();
  for (const auto& [argument, path] : id.files) files[argument] = path;
  json["files"] = std::move(files);
}

Json diagnosis_json(const std::vector<Diagnosis>& diagnoses) {
  Json list = Json::array();
  for (const Diagnosis& diagnosis : diagnoses) {
    list.push_back({{"name", diagnosis.name},
                    {"summary", diagnosis.summary},
                    {"share", number_json(diagnosis.share)},
                    {"rank", diagnosis.rank}});
  }
  return list;
}

Json fault_json(const FaultResult& result) {
  Json json = {{"loss", result.loss},
               {"fault", result.fault},
               {"family", result.family},
               {"summary", result.summary},
               {"pass", name(result.pass)},
               {"dtype", name(result.dtype)},
               {"backend", result.backend},
               {"outcome", name(result.outcome)},
               {"caught_by", result.caught_by},
               {"bound_usage", number_json(result.bound_usage)},
               {"reason", result.reason},
               {"diagnosis", diagnosis_json(result.diagnosis)},
               {"seconds", number_json(result.seconds)}};
  if (result.diagnosed_as) json["diagnosed_as"] = *result.diagnosed_as;
  return json;
}

Json check_json(const CheckResult& result) {
  Json json = Json::object();
  add_case(json, result.case_id);
  json["check"] = result.check;
  json["verdict"] = name(result.verdict);
  json["reason"] = result.reason;
  for (const auto& [field, member] : kCountFields) json[field] = result.*member;
  for (const auto& [field, member] : kCheckDistributionFields) {
    if (const auto& distribution = result.*member) json[field] = distribution_json(*distribution);
  }
  Json worst = Json::array();
  for (const WorstElement& element : result.worst) worst.push_back(worst_json(element));
  json["worst"] = std::move(worst);
  if (result.part) {
    json["part"] = {{"name", result.part->name},
                    {"factor", number_json(result.part->factor)},
                    {"text", result.part->text}};
  }
  json["diagnosis"] = diagnosis_json(result.diagnosis);
  json["data_notes"] = result.data_notes;
  json["seconds"] = number_json(result.seconds);
  json["command"] = result.command;
  if (!result.reproducer.empty()) json["reproducer"] = result.reproducer;
  return json;
}

Json context_json(const RunContext& context) {
  Json devices = Json::array();
  for (const DeviceContext& device : context.devices) {
    devices.push_back({{"name", device.name},
                       {"architecture", device.architecture},
                       {"driver_version", device.driver_version},
                       {"compiler", device.compiler},
                       {"global_memory_size", device.memory_bytes},
                       {"number_of_sms", device.multiprocessors}});
  }
  Json json = {{"date", context.date},
               {"host_name", context.host_name},
               {"executable", context.executable},
               {"command", context.command},
               {"lossgrad_version", context.version},
               {"num_cpus", context.num_cpus},
               {"tolerance_slack", number_json(context.tolerance_slack)}};
  if (context.tolerance_rtol) json["tolerance_rtol"] = number_json(*context.tolerance_rtol);
  if (context.tolerance_atol) json["tolerance_atol"] = number_json(*context.tolerance_atol);
  json["devices"] = std::move(devices);
  return json;
}

Json summary_json(const Summary& summary) {
  Json json = Json::object();
  for (const auto& [field, member] : kSummaryFields) json[field] = summary.*member;
  return json;
}

}  // namespace

std::string to_json(const Run& run) {
  Json checks = Json::array();
  for (const CheckResult& result : run.checks) checks.push_back(check_json(result));
  Json faults = Json::array();
  for (const FaultResult& result : run.faults) faults.push_back(fault_json(result));
  const Json document = {{"schema_version", kSchemaVersion}, {"context", context_json(run.context)},
                         {"checks", std::move(checks)},      {"faults", std::move(faults)},
                         {"benchmarks", Json::array()},      {"summary", summary_json(summarise(run))},
                         {"complete", run.complete}};
  // A path may hold any bytes: those that are no UTF-8 become U+FFFD instead of losing the whole document.
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lossgrad

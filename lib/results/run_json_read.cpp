// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/error.hpp"
#include "results/json_reader.hpp"
#include "results/run_json.hpp"
#include "results/run_json_fields.hpp"
#include "results/size_fields.hpp"

namespace lossgrad {
namespace {

template <class Value, class Parse>
Value named_value(const JsonValue& json, const char* expected, Parse parse) {
  const std::optional<Value> value = parse(json.text());
  if (!value) json.fail(expected);
  return *value;
}

int small_integer(const JsonValue& json) {
  const std::int64_t value = json.integer(0);
  if (value > std::numeric_limits<int>::max()) json.fail("a whole number below 2^31");
  return static_cast<int>(value);
}

Distribution read_distribution(const JsonValue& json) {
  JsonObject object(json);
  Distribution distribution;
  for (const auto& [field, member] : kDistributionFields) distribution.*member = object.take(field).number();
  object.finish();
  return distribution;
}

WorstElement read_worst(const JsonValue& json) {
  JsonObject object(json);
  WorstElement element;
  element.output = object.take("output").text();
  element.item = object.take("item").integer(0);
  element.component = object.take("component").integer(0);
  for (const auto& [field, member] : kWorstFields) element.*member = object.take(field).number();
  element.kink = object.take("kink").boolean();
  element.note = object.take("note").text();
  for (const auto& [argument, values] : object.take("inputs").members()) {
    std::vector<double> numbers;
    for (const JsonValue& value : values.elements()) numbers.push_back(value.number());
    element.inputs.emplace_back(argument, std::move(numbers));
  }
  object.finish();
  return element;
}

PartFault read_part(const JsonValue& json) {
  JsonObject object(json);
  PartFault part;
  part.name = object.take("name").text();
  part.factor = object.take("factor").number();
  part.text = object.take("text").text();
  object.finish();
  return part;
}

CaseId read_case(JsonObject& object) {
  CaseId id;
  id.loss = object.take("loss").text();
  id.pass = named_value<Pass>(object.take("pass"), "forward, backward or forward_backward", parse_pass);
  id.convention = object.take("convention").text();
  id.dtype = named_value<Dtype>(object.take("dtype"), "f32, f64, f16 or bf16", parse_dtype);
  for (const SizeField& entry : kSizeFields) {
    if (const auto value = object.take_if_present(std::string(entry.field)))
      id.sizes[std::string(entry.size)] = value->integer(0);
  }
  for (const auto& [parameter, value] : object.take("parameters").members())
    id.parameters[parameter] = value.number();
  id.scenario = object.take("scenario").text();
  id.seed = object.take("seed").unsigned_integer();
  id.backend = object.take("backend").text();
  id.kernel_id = object.take("kernel_id").text();
  id.kernel_hash = object.take("kernel_hash").text();
  for (const auto& [argument, path] : object.take("files").members())
    id.files.emplace_back(argument, path.text());
  return id;
}

std::vector<Diagnosis> read_diagnoses(const JsonValue& json) {
  std::vector<Diagnosis> diagnoses;
  for (const JsonValue& element : json.elements()) {
    JsonObject object(element);
    Diagnosis diagnosis;
    diagnosis.name = object.take("name").text();
    diagnosis.summary = object.take("summary").text();
    diagnosis.share = object.take("share").number();
    diagnosis.rank = small_integer(object.take("rank"));
    object.finish();
    diagnoses.push_back(std::move(diagnosis));
  }
  return diagnoses;
}

FaultResult read_fault(const JsonValue& json) {
  JsonObject object(json);
  FaultResult result;
  result.loss = object.take("loss").text();
  result.fault = object.take("fault").text();
  result.family = object.take("family").text();
  result.summary = object.take("summary").text();
  result.pass = named_value<Pass>(object.take("pass"), "forward, backward or forward_backward", parse_pass);
  result.dtype = named_value<Dtype>(object.take("dtype"), "f32, f64, f16 or bf16", parse_dtype);
  result.backend = object.take("backend").text();
  result.outcome =
      named_value<FaultOutcome>(object.take("outcome"), "caught, slipped or equivalent", parse_fault_outcome);
  for (const JsonValue& check : object.take("caught_by").elements()) result.caught_by.push_back(check.text());
  result.bound_usage = object.take("bound_usage").number();
  result.reason = object.take("reason").text();
  result.diagnosis = read_diagnoses(object.take("diagnosis"));
  if (const auto rank = object.take_if_present("diagnosed_as")) result.diagnosed_as = small_integer(*rank);
  result.seconds = object.take("seconds").number();
  object.finish();
  return result;
}

CheckResult read_check(const JsonValue& json) {
  JsonObject object(json);
  CheckResult result;
  result.case_id = read_case(object);
  result.check = object.take("check").text();
  result.verdict = named_value<Verdict>(object.take("verdict"),
                                        "passed, failed, mistrusted, unsupported or skipped", parse_verdict);
  result.reason = object.take("reason").text();
  for (const auto& [field, member] : kCountFields) result.*member = object.take(field).integer(0);
  for (const auto& [field, member] : kCheckDistributionFields) {
    if (const auto value = object.take_if_present(field)) result.*member = read_distribution(*value);
  }
  for (const JsonValue& element : object.take("worst").elements())
    result.worst.push_back(read_worst(element));
  if (const auto part = object.take_if_present("part")) result.part = read_part(*part);
  result.diagnosis = read_diagnoses(object.take("diagnosis"));
  for (const JsonValue& note : object.take("data_notes").elements()) result.data_notes.push_back(note.text());
  result.seconds = object.take("seconds").number();
  result.command = object.take("command").text();
  if (const auto reproducer = object.take_if_present("reproducer")) result.reproducer = reproducer->text();
  object.finish();
  return result;
}

DeviceContext read_device(const JsonValue& json) {
  JsonObject object(json);
  DeviceContext device;
  device.name = object.take("name").text();
  device.architecture = object.take("architecture").text();
  device.driver_version = object.take("driver_version").text();
  device.compiler = object.take("compiler").text();
  device.memory_bytes = object.take("global_memory_size").integer(0);
  device.multiprocessors = small_integer(object.take("number_of_sms"));
  object.finish();
  return device;
}

RunContext read_context(const JsonValue& json) {
  JsonObject object(json);
  RunContext context;
  context.date = object.take("date").text();
  context.host_name = object.take("host_name").text();
  context.executable = object.take("executable").text();
  context.command = object.take("command").text();
  context.version = object.take("lossgrad_version").text();
  context.num_cpus = small_integer(object.take("num_cpus"));
  context.tolerance_slack = object.take("tolerance_slack").number();
  if (const auto rtol = object.take_if_present("tolerance_rtol")) context.tolerance_rtol = rtol->number();
  if (const auto atol = object.take_if_present("tolerance_atol")) context.tolerance_atol = atol->number();
  for (const JsonValue& device : object.take("devices").elements())
    context.devices.push_back(read_device(device));
  object.finish();
  return context;
}

// A document whose summary and checks disagree was edited or cut by hand: neither can be believed.
void require_summary(const JsonValue& json, const Summary& computed) {
  JsonObject object(json);
  for (const auto& [field, member] : kSummaryFields) {
    const JsonValue value = object.take(field);
    if (value.integer(0) != computed.*member)
      value.fail(std::to_string(computed.*member) + ", as the checks give");
  }
  object.finish();
}

}  // namespace

Run run_from_json(const std::string& text) {
  const nlohmann::ordered_json document = parse_json(text);
  JsonObject object(JsonValue(document, ""));
  const JsonValue schema_version = object.take("schema_version");
  if (schema_version.integer(0) != kSchemaVersion) schema_version.fail(std::to_string(kSchemaVersion));
  Run run;
  run.context = read_context(object.take("context"));
  for (const JsonValue& check : object.take("checks").elements()) run.checks.push_back(read_check(check));
  for (const JsonValue& fault : object.take("faults").elements()) run.faults.push_back(read_fault(fault));
  if (const JsonValue benchmarks = object.take("benchmarks"); !benchmarks.elements().empty()) {
    benchmarks.fail("an empty array");
  }
  require_summary(object.take("summary"), summarise(run));
  run.complete = object.take("complete").boolean();
  object.finish();
  return run;
}

}  // namespace lossgrad

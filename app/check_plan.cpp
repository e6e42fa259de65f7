// SPDX-License-Identifier: Apache-2.0
#include "app/check_plan.hpp"

#include <algorithm>
#include <filesystem>

#include "app/loss_options.hpp"
#include "base/error.hpp"
#include "base/suggest.hpp"
#include "report/number_text.hpp"
#include "results/size_fields.hpp"

namespace lossgrad::app {
namespace {

constexpr std::int64_t kLargestSize = std::numeric_limits<std::int32_t>::max();

// The wanted names, each known; `all` stands for every one, nothing for the default.
std::vector<std::string> choose(const char* kind, const std::vector<std::string>& wanted,
                                const std::vector<std::string>& known, const std::string& standard) {
  if (wanted.empty()) return {standard};
  if (wanted == std::vector<std::string>{"all"}) return known;
  for (const std::string& given : wanted) {
    if (std::find(known.begin(), known.end(), given) == known.end()) {
      throw Error(ErrorKind::usage, unknown_name_message(kind, given, known));
    }
  }
  return wanted;
}

// Unlike other lists `all` is no choice here: a run that checks nothing is not wanted.
void require_skips(const std::vector<std::string>& skip) {
  std::vector<std::string> known;
  for (const CheckName& check : check_names()) known.push_back(check.name);
  for (const std::string& given : skip) {
    if (std::find(known.begin(), known.end(), given) == known.end())
      throw Error(ErrorKind::usage, unknown_name_message("check", given, known));
  }
}

void require_blocks(const std::vector<std::int64_t>& blocks) {
  for (const std::int64_t block : blocks) {
    if (block < 32 || block > 1024 || block % 32 != 0) {
      throw Error(ErrorKind::usage, "--block-n: found " + std::to_string(block) +
                                        ", expected a multiple of 32 from 32 to 1024");
    }
  }
}

// What makes no sense together with files, or without them.
void require_consistent_files(const CheckOptions& options) {
  if (options.files.empty()) {
    if (options.match) throw Error(ErrorKind::usage, "--match is for boxes from files");
    if (options.box_format) throw Error(ErrorKind::usage, "--box-format is for boxes from files");
    return;
  }
  for (const auto& [argument, path] : options.files) {
    std::error_code unknown;
    if (!options.json.empty() && std::filesystem::equivalent(path, options.json, unknown))
      throw Error(ErrorKind::usage, "--json " + options.json + " would replace the file of --" + argument);
  }
  const std::string file_flag = "--" + options.files.begin()->first;
  if (!options.scenarios.empty())
    throw Error(ErrorKind::usage, "--scenario makes inputs that " + file_flag + " gives already");
  if (!options.sizes.empty()) {
    const std::string flag = "--" + std::string(field_of_size(options.sizes.begin()->first));
    throw Error(ErrorKind::usage, flag + ": the files of " + file_flag + " decide the size");
  }
}

// Every combination of the wanted sizes; sizes of the loss that are not given keep their defaults.
std::vector<Sizes> size_product(const Loss& loss, const CheckOptions& options) {
  std::vector<Sizes> product = {loss.default_sizes()};
  for (const auto& [size, values] : options.sizes) {
    const std::string flag = "--" + std::string(field_of_size(size));
    if (!loss.default_sizes().contains(size)) {
      throw Error(ErrorKind::usage, flag + ": " + std::string(loss.name()) + " has no such size");
    }
    std::vector<Sizes> longer;
    for (const std::int64_t value : values) {
      if (value > kLargestSize) {
        throw Error(ErrorKind::usage,
                    flag + ": found " + std::to_string(value) + ", expected at most 2147483647");
      }
      for (Sizes sizes : product) {
        sizes[size] = value;
        longer.push_back(std::move(sizes));
      }
    }
    product = std::move(longer);
  }
  return product;
}

CheckRequest base_request(const Loss& loss, const CheckOptions& options) {
  CheckRequest request;
  request.loss = &loss;
  request.passes = options.passes;
  request.seed = options.seed;
  request.tolerance.slack = options.slack;
  request.tolerance.rtol = options.rtol;
  request.tolerance.atol = options.atol;
  request.skip = {options.skip.begin(), options.skip.end()};
  request.fd_samples = options.fd_samples;
  return request;
}

// The kernels are made once here, so that a case that no kernel takes is a usage error of the whole run.
void require_kernels(const CheckRequest& request) {
  for (const Pass pass : request.passes) {
    const Kernel kernel = request.loss->kernel({pass, request.dtype, request.convention, request.block});
    (void)kernel.launch_shape(request.sizes);
  }
}

struct CaseLists {
  std::vector<std::string> conventions;
  std::vector<Dtype> dtypes;
  std::vector<Sizes> sizes;
  std::vector<std::string> scenarios;
};

CaseLists case_lists(const CheckOptions& options, const CheckPlan& plan) {
  const Loss& loss = *plan.loss;
  CaseLists lists;
  const auto conventions = names_of(loss.conventions());
  lists.conventions = choose("convention", options.conventions, conventions, conventions.front());
  lists.dtypes = options.dtypes;
  if (lists.dtypes.empty()) lists.dtypes = {plan.files ? plan.files->dtype : Dtype::f32};
  lists.sizes = plan.files ? std::vector<Sizes>{plan.files->sizes} : size_product(loss, options);
  lists.scenarios =
      choose("scenario", options.scenarios, names_of(loss.scenarios()), loss.default_scenario());
  if (plan.files) lists.scenarios = {"file"};
  return lists;
}

void add_requests(const CheckOptions& options, const CaseLists& lists, CheckPlan& plan) {
  CheckRequest request = base_request(*plan.loss, options);
  if (plan.files) request.files = plan.files->files;
  const auto add = [&](const std::string& scenario, std::int64_t block) {
    request.scenario = scenario;
    request.block = static_cast<int>(block);
    require_kernels(request);
    plan.requests.push_back(request);
  };
  for (const std::string& convention : lists.conventions) {
    request.convention = convention;
    for (const Dtype dtype : lists.dtypes) {
      request.dtype = dtype;
      for (const Sizes& sizes : lists.sizes) {
        request.sizes = sizes;
        for (const std::string& scenario : lists.scenarios) {
          for (const std::int64_t block : options.blocks) add(scenario, block);
        }
      }
    }
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::string box_options(const CheckOptions& options) {
  std::string text;
  if (options.box_format) text += " --box-format " + std::string(name(*options.box_format));
  if (options.match) text += *options.match == MatchRule::iou ? " --match iou" : " --match row";
  return text;
}

// Criteria that differ from the defaults.
std::string criteria(const CheckOptions& options) {
  const CheckOptions standard;
  std::string text;
  if (options.slack != standard.slack) text += " --slack " + shortest(options.slack);
  if (options.rtol && options.atol)
    text += " --rtol " + shortest(*options.rtol) + " --atol " + shortest(*options.atol);
  if (options.fd_samples != standard.fd_samples)
    text += " --fd-samples " + std::to_string(options.fd_samples);
  if (!options.skip.empty()) text += " --skip " + joined(options.skip);
  return text;
}

}  // namespace

CheckPlan make_check_plan(const CheckOptions& options, const FileReaders& readers) {
  CheckPlan plan;
  plan.loss = &find_loss(options.loss);
  require_blocks(options.blocks);
  require_skips(options.skip);
  require_consistent_files(options);
  // Names are looked up before any file is read.
  (void)case_lists(options, plan);
  if (!options.files.empty()) plan.files = read_file_inputs(*plan.loss, options, readers);
  add_requests(options, case_lists(options, plan), plan);
  return plan;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string repeat_command(const CheckOptions& options, const CheckRequest& request,
                           std::string_view backend) {
  std::string text = "lossgrad check " + std::string(request.loss->name());
  if (request.passes.size() == 1) text += " --pass " + std::string(name(request.passes.front()));
  text += " --dtype " + std::string(name(request.dtype));
  if (request.files.empty()) {
    for (const auto& [size, value] : request.sizes) {
      text.append(" --").append(field_of_size(size)).append(" ").append(std::to_string(value));
    }
    text += " --scenario " + request.scenario;
  }
  for (const auto& [argument, path] : request.files)
    text.append(" --").append(argument).append(" ").append(shell_quoted(path));
  text += box_options(options);
  text += " --seed " + std::to_string(request.seed) + " --convention " + request.convention;
  if (request.block != CheckRequest{}.block) text += " --block-n " + std::to_string(request.block);
  text += " --backend " + std::string(backend);
  if (options.device != 0) text += " --device " + std::to_string(options.device);
  return text + criteria(options);
}

}  // namespace lossgrad::app

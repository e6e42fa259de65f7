// SPDX-License-Identifier: Apache-2.0
#include "fakes.hpp"

#include <array>

#include "base/error.hpp"
#include "check/selftest.hpp"

namespace lossgrad {
namespace {

using Arguments = std::vector<Argument>;
using Role = ArgumentRole;

Kernel make_kernel(const std::string& stem, const KernelOptions& options, std::string_view standard,
                   std::string_view block_name, Arguments arguments) {
  const int block = options.block == kOwnBlock ? 256 : options.block;
  if (block < 32 || block > 1024 || block % 32 != 0) {
    throw Error(ErrorKind::usage,
                "--block-n: found " + std::to_string(block) + ", expected a multiple of 32 from 32 to 1024");
  }
  Kernel::Parts parts;
  parts.name = stem + "_" + std::string(name(options.pass));
  parts.pass = options.pass;
  parts.dtype = options.dtype;
  parts.constants = {{std::string(block_name), block}};
  if (options.convention != standard) parts.variants = {options.convention};
  parts.kernel_source = "// body of " + parts.name;
  parts.entry_point_source = "// entry point of " + parts.name;
  parts.launch = {arguments.back().name, static_cast<std::uint32_t>(block),
                  static_cast<std::uint32_t>(block)};
  parts.arguments = std::move(arguments);
  return Kernel(std::move(parts));
}

// Names and lists only: no engine under test evaluates it.
class FakeLoss : public Loss {
 public:
  [[nodiscard]] std::string_view summary() const override { return "a stand-in"; }
  [[nodiscard]] std::span<const NamedChoice> conventions() const override { return conventions_; }
  [[nodiscard]] std::span<const ScenarioInfo> scenarios() const override { return scenarios_; }
  [[nodiscard]] std::string default_scenario() const override { return "mixed"; }
  std::span<const std::string> examples() const override {
    static const std::vector<std::string> examples = {std::string(name()) + " --seed 2"};
    return examples;
  }
  [[nodiscard]] std::span<const int> repeatability_blocks() const override { return {}; }
  [[nodiscard]] const std::vector<Fault>& faults() const override { return faults_; }
  [[nodiscard]] Sizes selftest_sizes() const override { return default_sizes(*this); }
  void generate(std::string_view, Dtype, std::uint64_t, Items&) const override {}
  void evaluate(const ReferenceRequest&, const Items&, Reference&) const override {}
  [[nodiscard]] GradientOracles oracles(std::string_view, const Items&, std::int64_t) const override {
    return {};
  }
  [[nodiscard]] double derivative_along(std::string_view, const Items&, std::int64_t,
                                        std::span<const double>) const override {
    return 0;
  }
  [[nodiscard]] double value_at(std::string_view, const Items&, std::int64_t,
                                std::span<const double>) const override {
    return 0;
  }
  [[nodiscard]] double value_from_outputs(std::string_view, const ItemOutputs&,
                                          const ItemOutputs&) const override {
    return 0;
  }

 protected:
  std::vector<NamedChoice> conventions_;
  std::vector<Fault> faults_ = {{.name = "sign_lost", .summary = "the sign were lost"}};
  std::vector<ScenarioInfo> scenarios_ = {
      {"typical", "as in COCO"}, {"touching", "shared edges"}, {"mixed", "all"}};
};

class FakeCiou : public FakeLoss {
 public:
  FakeCiou() { conventions_ = {{"yolo", "alpha carries a gradient"}, {"torchvision", "alpha is fixed"}}; }
  [[nodiscard]] std::string_view name() const override { return "ciou"; }
  [[nodiscard]] std::string item_name() const override { return "box"; }
  [[nodiscard]] std::string item_size() const override { return "N"; }
  [[nodiscard]] std::span<const SizeInfo> sizes() const override {
    static const std::array<SizeInfo, 1> kSizes = {{{"N", 1024, 0, kLargestSize, "boxes"}}};
    return kSizes;
  }
  [[nodiscard]] const BlockInfo& block() const override {
    static const BlockInfo block{"block_n", "boxes of a block"};
    return block;
  }
  [[nodiscard]] Kernel kernel(const KernelOptions& options) const override {
    Arguments arguments = {{"pred", Role::input, {"4", "N"}}, {"target", Role::constant, {"4", "N"}}};
    if (options.pass == Pass::forward) {
      arguments.push_back({"loss", Role::output, {"N"}});
    } else {
      arguments.insert(arguments.begin(), {"dy", Role::upstream, {"N"}});
      arguments.push_back({"d_pred", Role::gradient, {"4", "N"}});
    }
    arguments.push_back({"N", Role::size, {}});
    return make_kernel("yolo_ciou_loss", options, "yolo", "block_n", std::move(arguments));
  }
};

class FakeCosine : public FakeLoss {
 public:
  FakeCosine() { conventions_ = {{"exact", "no eps"}}; }
  [[nodiscard]] std::string_view name() const override { return "cosine"; }
  [[nodiscard]] std::string item_name() const override { return "row"; }
  [[nodiscard]] std::string item_size() const override { return "n_rows"; }
  [[nodiscard]] std::span<const SizeInfo> sizes() const override {
    static const std::array<SizeInfo, 2> kSizes = {
        {{"n_rows", 64, 0, kLargestSize, "rows"}, {"n_dim", 512, 1, 65536, "elements of a row"}}};
    return kSizes;
  }
  [[nodiscard]] std::span<const ParameterInfo> parameters() const override {
    static const std::array<ParameterInfo, 1> kParameters = {{{"margin", 0.25, "of the hinge"}}};
    return kParameters;
  }
  [[nodiscard]] const BlockInfo& block() const override {
    static const BlockInfo block{"block_size", "elements of a sweep"};
    return block;
  }
  [[nodiscard]] Kernel kernel(const KernelOptions& options) const override {
    return make_kernel("cosine_embedding_loss", options, "exact", "block_size",
                       {{"x1", Role::input, {"n_rows", "n_dim"}},
                        {"y", Role::constant, {"n_rows"}, {1, -1}},
                        {"loss", Role::output, {"n_rows"}},
                        {"n_dim", Role::size, {}},
                        {"n_rows", Role::size, {}}});
  }
};

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(BackendKind kind) : kind_(kind) { device_.name = "fake device"; }
  [[nodiscard]] std::string_view name() const override {
    return kind_ == BackendKind::cuda ? "cuda" : "host";
  }
  [[nodiscard]] const DeviceDescription& device() const override { return device_; }
  std::shared_ptr<LoadedKernel> load(const Kernel&) override { return nullptr; }
  std::vector<std::shared_ptr<LoadedKernel>> load_all(std::span<const Kernel>) override { return {}; }
  std::shared_ptr<DeviceMemory> allocate(std::size_t) override { return nullptr; }
  void upload(DeviceMemory&, std::size_t, std::span<const std::byte>) override {}
  void download(const DeviceMemory&, std::size_t, std::span<std::byte>) override {}
  void copy(DeviceMemory&, std::size_t, const DeviceMemory&, std::size_t, std::size_t) override {}
  void fill(DeviceMemory&, std::size_t, std::size_t, std::span<const std::byte>) override {}
  void launch(LoadedKernel&, const LaunchShape&, std::span<const LaunchArgument>,
              const LaunchOptions&) override {}
  void synchronize() override {}
  double time_us(const std::function<void()>&) override { return 0; }

 private:
  BackendKind kind_;
  DeviceDescription device_;
};

}  // namespace

std::span<const Loss* const> all_losses() {
  static const FakeCiou ciou;
  static const FakeCosine cosine;
  static const std::array<const Loss*, 2> losses = {&ciou, &cosine};
  return losses;
}

const std::vector<CheckName>& check_names() {
  static const std::vector<CheckName> names = {{"reference", "within the bound"},
                                               {"guards", "nothing else written"}};
  return names;
}

std::vector<CheckResult> check_case(const CheckRequest& request, Backend& backend, const Progress& progress) {
  test::FakeEngine& engine = test::engine();
  const std::size_t index = engine.requests.size();
  engine.requests.push_back(request);
  engine.during(index);
  progress(0.5, "reference");
  std::vector<CheckResult> results;
  for (const Pass pass : request.passes) {
    CheckResult result;
    result.case_id.loss = request.loss->name();
    result.case_id.pass = pass;
    result.case_id.convention = request.convention;
    result.case_id.dtype = request.dtype;
    result.case_id.sizes = request.sizes;
    result.case_id.parameters = request.parameters;
    result.case_id.scenario = request.scenario;
    result.case_id.files = request.files;
    result.case_id.seed = request.seed;
    result.case_id.backend = backend.name();
    result.check = "reference";
    result.verdict = engine.verdict(index);
    if (result.verdict != Verdict::passed) result.reason = "as the test wants it";
    result.command = request.command;
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<Kernel> fault_kernels(const Loss&, const Fault&, Dtype) { return {}; }

FaultResult check_fault(const Loss& loss, const Fault& fault, Dtype dtype, Backend& backend, bool diagnose) {
  FaultResult result;
  result.loss = loss.name();
  result.fault = fault.name;
  result.family = name(fault.family);
  result.pass = fault.pass;
  result.dtype = dtype;
  result.backend = backend.name();
  result.outcome = fault.shows_in(dtype) ? test::engine().fault_outcome : FaultOutcome::equivalent;
  if (result.outcome == FaultOutcome::caught) result.caught_by = {"reference"};
  if (diagnose) result.diagnosed_as = 1;
  return result;
}

std::unique_ptr<Backend> open_backend(BackendKind kind, int device_index) {
  if (kind == BackendKind::cuda && !test::engine().cuda_available)
    throw Error(ErrorKind::device, "cuda: no driver");
  if (device_index > 0) throw Error(ErrorKind::device, "no device " + std::to_string(device_index));
  test::engine().opened.emplace_back(kind == BackendKind::cuda ? "cuda" : "host");
  return std::make_unique<FakeBackend>(kind);
}

BackendStatus backend_status(BackendKind kind) {
  if (kind == BackendKind::host) return {kind, true, "", {}};
  const bool cuda = test::engine().cuda_available;
  DeviceDescription device;
  device.name = "fake device";
  device.architecture = "sm_90";
  device.multiprocessors = 132;
  device.memory_bytes = std::int64_t{141} << 30;
  device.driver_version = "13.0";
  device.compiler = "NVRTC 13.0";
  std::vector<DeviceDescription> devices;
  if (cuda) devices.push_back(device);
  return {kind, cuda, cuda ? "" : "no driver", devices};
}

void cuda_build(std::span<const Kernel> kernels, const std::string& architecture) {
  for (const Kernel& kernel : kernels) test::engine().built.push_back(kernel.id() + " " + architecture);
}

KernelResources cuda_resources(const Kernel&, const std::string&) { return {40, 0, 0, 0, -1}; }

std::string cuda_ptx(const Kernel& kernel, const std::string& architecture) {
  return "// PTX of " + kernel.id() + " for " + architecture;
}

BoxPairs pair_boxes(const BoxList& pred, const BoxList& target, MatchRule rule, double) {
  if (rule == MatchRule::row && pred.boxes.size() != target.boxes.size()) {
    throw Error(ErrorKind::data, pred.source + ": counts differ");
  }
  BoxPairs pairs;
  const std::size_t count = std::min(pred.boxes.size(), target.boxes.size());
  pairs.pred.assign(pred.boxes.begin(), pred.boxes.begin() + static_cast<std::ptrdiff_t>(count));
  pairs.target.assign(target.boxes.begin(), target.boxes.begin() + static_cast<std::ptrdiff_t>(count));
  pairs.unmatched_pred = static_cast<std::int64_t>(pred.boxes.size() - count);
  return pairs;
}

namespace test {
namespace {

BoxList boxes_of(const std::filesystem::path& path) {
  BoxList list;
  list.source = path;
  list.stored_type = path.extension() == ".json" ? "json" : path.extension().string().substr(1);
  if (path.stem() == "missing") throw Error(ErrorKind::data, path.string() + ": no such file");
  const std::size_t count = path.stem() == "none" ? 0 : (path.stem() == "five" ? 5 : 3);
  for (std::size_t i = 0; i < count; ++i) list.boxes.push_back({static_cast<double>(i), 0.1, 1e6, 0.5});
  list.zero_size = path.stem() == "five" ? 2 : 0;
  return list;
}

Array array_of(const std::filesystem::path& path) {
  Array array;
  array.source = path;
  array.stored_type = "f32";
  if (path.stem() == "matrix") {
    array.shape = {2, 3};
    array.values.assign(6, 1.0);
  } else {
    array.shape = {path.stem() == "two" || path.stem() == "labels" ? 2 : 3};
    array.values.assign(static_cast<std::size_t>(array.shape[0]), path.stem() == "labels" ? -1 : 0.25);
  }
  return array;
}

}  // namespace

FakeEngine& engine() {
  static FakeEngine instance;
  return instance;
}

app::FileReaders fake_readers() {
  return {[](const std::filesystem::path& path, const BoxReadOptions&) { return boxes_of(path); },
          [](const std::filesystem::path& path, const MemberChoice&) { return array_of(path); }};
}

}  // namespace test
}  // namespace lossgrad

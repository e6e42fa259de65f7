// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/nvrtc_program.hpp"

#include <utility>

#include <spdlog/spdlog.h>

#include "base/error.hpp"

namespace lossgrad {
namespace {

// NVRTC's texts end in a NUL that its sizes count.
void drop_terminator(std::string& text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
}

}  // namespace

NvrtcProgram::NvrtcProgram(const NvrtcLibrary& library, const std::string& source,
                           const std::string& file_name)
    : functions_(&library.functions()) {
  check(functions_->create_program(&program_, source.c_str(), file_name.c_str(), 0, nullptr, nullptr),
        "nvrtcCreateProgram");
}

NvrtcProgram::~NvrtcProgram() { destroy(); }

NvrtcProgram::NvrtcProgram(NvrtcProgram&& other) noexcept
    : functions_(other.functions_), program_(std::exchange(other.program_, nullptr)) {}

NvrtcProgram& NvrtcProgram::operator=(NvrtcProgram&& other) noexcept {
  if (this != &other) {
    destroy();
    functions_ = other.functions_;
    program_ = std::exchange(other.program_, nullptr);
  }
  return *this;
}

void NvrtcProgram::destroy() noexcept {
  if (program_ == nullptr) return;
  const nvrtcResult result = functions_->destroy_program(&program_);
  if (result != NVRTC_SUCCESS) spdlog::warn("nvrtcDestroyProgram: {}", functions_->error_string(result));
  program_ = nullptr;
}

void NvrtcProgram::check(nvrtcResult result, const char* function) const {
  if (result == NVRTC_SUCCESS) return;
  throw Error(ErrorKind::internal, std::string(function) + ": " + functions_->error_string(result));
}

nvrtcResult NvrtcProgram::compile(std::span<const std::string> options) {
  std::vector<const char*> pointers;
  pointers.reserve(options.size());
  for (const std::string& option : options) pointers.push_back(option.c_str());
  return functions_->compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
}

std::string NvrtcProgram::log() const {
  std::size_t size = 0;
  check(functions_->log_size(program_, &size), "nvrtcGetProgramLogSize");
  std::string text(size, '\0');
  check(functions_->log(program_, text.data()), "nvrtcGetProgramLog");
  drop_terminator(text);
  return text;
}

std::vector<std::byte> NvrtcProgram::cubin() const {
  std::size_t size = 0;
  check(functions_->cubin_size(program_, &size), "nvrtcGetCUBINSize");
  std::vector<std::byte> image(size);
  check(functions_->cubin(program_, reinterpret_cast<char*>(image.data())), "nvrtcGetCUBIN");
  return image;
}

std::string NvrtcProgram::ptx() const {
  std::size_t size = 0;
  check(functions_->ptx_size(program_, &size), "nvrtcGetPTXSize");
  std::string text(size, '\0');
  check(functions_->ptx(program_, text.data()), "nvrtcGetPTX");
  drop_terminator(text);
  return text;
}

}  // namespace lossgrad

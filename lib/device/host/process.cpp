// SPDX-License-Identifier: Apache-2.0
#include "device/host/process.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"

namespace lossgrad::host {
namespace {

[[noreturn]] void fail(const std::string& program, int error_number) {
  throw Error(ErrorKind::device,
              program + ": cannot be started: " + std::system_category().message(error_number));
}

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  SpawnActions(SpawnActions&&) = delete;
  SpawnActions& operator=(SpawnActions&&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> english_environment() {
  std::vector<std::string> variables;
  bool has_path = false;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    has_path = has_path || text.starts_with("PATH=");
    if (!text.starts_with("LC_ALL=")) variables.emplace_back(text);
  }
  if (!has_path) variables.push_back(std::string("PATH=") + kStandardPath);
  variables.emplace_back("LC_ALL=C");
  return variables;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(arguments.front(), errno);
  SpawnActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDERR_FILENO);
  std::vector<std::string> words = arguments;
  std::vector<std::string> variables = english_environment();
  pid_t process = 0;
  const int error_number = ::posix_spawn(&process, arguments.front().c_str(), actions.get(), nullptr,
                                         pointers_to(words).data(), pointers_to(variables).data());
  ::close(ends[1]);
  if (error_number != 0) {
    ::close(ends[0]);
    fail(arguments.front(), error_number);
  }
  ProcessResult result;
  result.output = read_all(ends[0]);
  ::close(ends[0]);
  result.exit_code = wait_for(process);
  return result;
}

}  // namespace lossgrad::host

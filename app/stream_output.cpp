// SPDX-License-Identifier: Apache-2.0
#include "app/stream_output.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "app/interrupt.hpp"
#include "base/files.hpp"

namespace lossgrad::app {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as the system's own limit
constexpr int kWaitMilliseconds = 50;

[[noreturn]] void fail(int error_number) { throw std::system_error(error_number, std::system_category()); }

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : "."; }

// /proc/self/fd/3; also as a folder of one thread, /proc/self/task/7/fd/3.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code error;
  const fs::path self = fs::canonical("/proc/self", error);
  if (error) return std::nullopt;
  const fs::path folder = fs::canonical(folder_of(path), error);
  if (error || folder.filename() != "fd" || !folder.string().starts_with(self.string() + "/"))
    return std::nullopt;
  const std::string digits = path.filename().string();
  int descriptor = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), descriptor);
  if (code != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return descriptor;
}

// A signal that came before the writing began has stopped the run, not the writing of what it found.
class GivenUp {
 public:
  bool operator()() const { return !before_ && InterruptHandler::interrupted(); }
  [[nodiscard]] bool before() const { return before_; }

 private:
  bool before_ = InterruptHandler::interrupted();
};

// -1 when a signal ended the wait: a plain open() of a pipe would wait for its reader whatever signals come.
int open_stream(const fs::path& path, const GivenUp& given_up) {
  std::error_code unknown;
  const bool pipe = fs::is_fifo(path, unknown);
  while (true) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor >= 0) return descriptor;
    const bool no_reader_yet = pipe && errno == ENXIO;
    if (!no_reader_yet && errno != EINTR) fail(errno);
    if (given_up.before() || given_up()) return -1;
    ::poll(nullptr, 0, kWaitMilliseconds);
  }
}

bool write_all(int descriptor, std::string_view content, const GivenUp& given_up) {
  while (!content.empty()) {
    struct pollfd ready {
      descriptor, POLLOUT, 0
    };
    const int count = ::poll(&ready, 1, kWaitMilliseconds);
    if (count < 0 && errno != EINTR) fail(errno);
    if (given_up()) return false;
    if (count <= 0) continue;
    // A pipe that is ready takes so many bytes without waiting.
    const ssize_t written =
        ::write(descriptor, content.data(), std::min<std::size_t>(content.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) fail(errno);
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

OutputTarget follow_links(const fs::path& path) {
  OutputTarget target{path, {}};
  for (int links = 0; links < kMostLinks; ++links) {
    target.descriptor = own_descriptor(target.path);
    std::error_code error;
    if (target.descriptor || !fs::is_symlink(target.path, error)) return target;
    const fs::path next = fs::read_symlink(target.path, error);
    if (error) return target;
    target.path = folder_of(target.path) / next;
  }
  return target;
}

bool write_to_descriptor(int descriptor, std::string_view content) {
  return write_all(descriptor, content, GivenUp());
}

bool write_to_stream(const fs::path& path, std::string_view content) {
  const GivenUp given_up;
  const FileDescriptor stream(open_stream(path, given_up));
  return stream.get() >= 0 && write_all(stream.get(), content, given_up);
}

}  // namespace lossgrad::app

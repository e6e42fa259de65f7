// SPDX-License-Identifier: Apache-2.0
// Output that is no file to be replaced: pipes, devices and the descriptors that the program was started
// with. Waiting for a reader ends with a signal (InterruptHandler). Faults are std::system_error.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace lossgrad::app {

// What a path leads to after the symbolic links of its last part.
struct OutputTarget {
  std::filesystem::path path;
  // The path is a descriptor of this process: /dev/stdout, /dev/fd/3, /proc/self/fd/3. Whatever is behind it
  // is already open, perhaps for appending, perhaps without a name any more.
  std::optional<int> descriptor;
};
OutputTarget follow_links(const std::filesystem::path& path);

// False when a signal ended the wait for a reader. Both throw std::system_error.
bool write_to_descriptor(int descriptor, std::string_view content);
bool write_to_stream(const std::filesystem::path& path, std::string_view content);

}  // namespace lossgrad::app

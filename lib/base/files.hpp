// SPDX-License-Identifier: Apache-2.0
// Files: whole-file reading with clear errors, atomic writing, the user's cache folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lossgrad {

// Errors (all ErrorKind::data, one line, starting with the path): no such file, is a directory, permission
// denied.
std::string read_file(const std::filesystem::path& path);

// What an error number of open, read or write means for `path`, in a few words; for a file that does not
// exist with the nearest name in its folder: "no such file; did you mean 'boxes.npy'?"
std::string file_error_text(const std::filesystem::path& path, int error_number);

// Writes to a temporary file in the same folder, flushes it to disk and renames it over `path`: a reader sees
// the old or the new content, never a part. A file that is replaced keeps its mode. Throws ErrorKind::data
// and removes the temporary when anything fails.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Throws what write_file_atomically would throw before it writes: makes that temporary file and removes it.
void require_writable_atomically(const std::filesystem::path& path);

// $XDG_CACHE_HOME/lossgrad, else $HOME/.cache/lossgrad; nothing when neither variable is set to an absolute
// path.
std::optional<std::filesystem::path> user_cache_folder();

}  // namespace lossgrad

// SPDX-License-Identifier: Apache-2.0
#include "app/failure_files.hpp"

#include <algorithm>
#include <cerrno>

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/check_plan.hpp"
#include "app/loss_options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/printable.hpp"
#include "base/version.hpp"
#include "report/number_text.hpp"
#include "results/size_fields.hpp"

namespace lossgrad::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& folder, const std::string& what) {
  throw Error(ErrorKind::data, "--save-failures " + folder.string() + ": " + what);
}

void require_usable(const fs::path& folder) {
  std::error_code error;
  fs::path existing = fs::absolute(folder, error);
  if (error) fail(folder, error.message());
  while (existing.has_relative_path() && fs::status(existing, error).type() == fs::file_type::not_found)
    existing = existing.parent_path();
  const fs::file_status status = fs::status(existing, error);
  if (error) fail(folder, error.message());
  if (!fs::is_directory(status)) {
    fail(folder, existing == fs::absolute(folder) ? "it is a file, a folder is expected"
                                                  : existing.string() + " is no folder");
  }
  if (::access(existing.c_str(), W_OK | X_OK) != 0) fail(folder, file_error_text(existing, errno));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error).lexically_normal();
  const fs::path last = absolute.has_filename() ? absolute : absolute.parent_path();
  if (fs::is_directory(last, error)) return;
  fs::create_directories(last.parent_path(), error);
  if (error) fail(folder, "cannot be made: " + error.message());
  constexpr mode_t kOwnerAlone = 0700;
  if (::mkdir(last.c_str(), kOwnerAlone) != 0 && errno != EEXIST)
    fail(folder, "cannot be made: " + std::system_category().message(errno));
}

// "yolo_ciou_loss_backward__f32__256__n100003__mixed__seed1__host"
std::string name_of(const CaseId& id) {
  std::string text = id.kernel_id;
  for (const SizeField& entry : kSizeFields) {
    const auto size = id.sizes.find(std::string(entry.size));
    if (size != id.sizes.end()) text += "__" + std::string(entry.field) + std::to_string(size->second);
  }
  for (const auto& [parameter, value] : id.parameters) text += "__" + parameter + parameter_text(value);
  return text + "__" + id.scenario + "__seed" + std::to_string(id.seed) + "__" + id.backend;
}

bool concerns(const CheckResult& result, Pass pass) {
  return result.case_id.pass == pass && result.verdict == Verdict::failed;
}

bool has_outputs_of(const FailedPass& failed, const std::string& check) {
  return std::any_of(failed.outputs.begin(), failed.outputs.end(),
                     [&](const NamedArray& array) { return array.name.starts_with(check + "."); });
}

// Of one pass, in the words of the command line.
std::string repeat_pass(const CheckOptions& options, const CheckRequest& request, Pass pass,
                        std::string_view backend) {
  return repeat_command(options, request, {pass}, request.files, backend);
}

// The same with the inputs from an archive that holds them by name.
std::string repeat_from_archive(CheckOptions options, const CheckRequest& request, const FailedPass& failed,
                                const fs::path& archive, std::string_view backend) {
  options.box_format.reset();  // the arrays are as the kernels have them
  options.match.reset();
  InputFiles files;
  for (const Argument& argument : file_arguments(*request.loss)) {
    const auto has_name = [&](const NamedArray& input) { return input.name == argument.name; };
    if (std::any_of(failed.inputs.begin(), failed.inputs.end(), has_name))
      files.emplace_back(argument.name, archive.string());
  }
  return repeat_command(options, request, {failed.pass}, files, backend);
}

// Comments and one command: the file is a script for a shell.
std::string script(std::span<const CheckResult> results, const FailedPass& failed, const std::string& command,
                   const std::string& archive, const std::string& items_command) {
  std::string text =
      "# lossgrad " + std::string(version()) + ": what failed, and the command that repeats it\n";
  for (const CheckResult& result : results) {
    if (!concerns(result, failed.pass)) continue;
    text += "# " + std::string(name(failed.pass)) + " " + result.check + ": " +
            escaped_controls(result.reason) + "\n";
    if (result.part) text += "#   " + result.part->text + "\n";
  }
  if (!archive.empty()) {
    text += "# " + escaped_controls(archive) + " holds the inputs by their arguments' names" +
            (failed.outputs.empty() ? ""
                                    : ", and for each check and output that is wrong: got, expected_low, "
                                      "expected_high, bound") +
            "\n";
  }
  if (!items_command.empty()) {
    text += "# the worst items alone (numbered anew; `items` has their places in the case):\n#   " +
            items_command + "\n";
  }
  // It starts from any folder, and finds the program that wrote it.
  std::error_code unknown;
  const fs::path folder = fs::current_path(unknown);
  if (!folder.empty()) text += "cd " + shell_quoted(folder.string()) + " || exit\n";
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!program.empty()) text += "PATH=" + shell_quoted(program.parent_path().string()) + ":$PATH\n";
  return text + command + "\n";
}

}  // namespace

FailureFiles::FailureFiles(const CheckOptions& options, WriteArrays write_arrays)
    : options_(options), folder_(options.save_failures), write_arrays_(std::move(write_arrays)) {
  if (wanted()) require_usable(folder_);
}

fs::path FailureFiles::free_stem(const CaseId& id) const {
  const std::string stem = (folder_ / name_of(id)).string();
  std::error_code unknown;
  for (int number = 1;; ++number) {
    const std::string numbered = number == 1 ? stem : stem + "__" + std::to_string(number);
    if (!fs::exists(numbered + ".npz", unknown) && !fs::exists(numbered + ".txt", unknown)) return numbered;
  }
}

std::string FailureFiles::command_for(const CheckRequest& request, const FailedPass& failed,
                                      const fs::path& arrays, const std::string& backend) const {
  return failed.whole_case && !failed.outputs.empty()
             ? repeat_from_archive(options_, request, failed, arrays, backend)
             : repeat_pass(options_, request, failed.pass, backend);
}

void FailureFiles::save(const CheckRequest& request, const FailedPass& failed,
                        std::span<CheckResult> results) const {
  const auto first = std::find_if(results.begin(), results.end(),
                                  [&](const CheckResult& result) { return concerns(result, failed.pass); });
  if (first == results.end()) return;
  make_folder(folder_);
  const std::string stem = free_stem(first->case_id).string();
  const std::string archive = stem + ".npz";
  const std::string backend = first->case_id.backend;
  std::vector<NamedArray> arrays = failed.inputs;
  arrays.insert(arrays.end(), failed.outputs.begin(), failed.outputs.end());
  const bool any_item = std::any_of(failed.inputs.begin(), failed.inputs.end(),
                                    [](const NamedArray& input) { return !input.values.empty(); });
  const std::string command = command_for(request, failed, archive, backend);
  const std::string items_command = failed.whole_case || !any_item || failed.outputs.empty()
                                        ? ""
                                        : repeat_from_archive(options_, request, failed, archive, backend);
  if (any_item) write_arrays_(archive, arrays);
  write_file_atomically(stem + ".txt",
                        script(results, failed, command, any_item ? archive : "", items_command));
  // Checks that compared no outputs made their own inputs, or more than the archive holds.
  const std::string own_inputs = repeat_pass(options_, request, failed.pass, backend);
  for (CheckResult& result : results) {
    if (concerns(result, failed.pass))
      result.reproducer = has_outputs_of(failed, result.check) ? command : own_inputs;
  }
  spdlog::info("saved {}.txt", stem);
}

}  // namespace lossgrad::app

// SPDX-License-Identifier: Apache-2.0
// fuzz_TARGET [--seconds N] [--seed S] [--only CASE] FOLDER...
// Feeds changed copies of the files below the folders to the target that is linked. Case i depends on seed, i
// and those files: the number of a failing case, printed before it ends, repeats it with --only.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/files.hpp"
#include "fuzz_target.hpp"
#include "mutate.hpp"

namespace {

struct Options {
  double seconds = 5;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> only;
  std::vector<std::filesystem::path> folders;
};

volatile std::sig_atomic_t current_case = 0;

// For signals: only what is safe in a handler.
void report_crash(int signal) {
  char text[] = "fuzz: crash in case 0000000000\n";
  long number = current_case;
  for (std::size_t i = sizeof text - 3; number > 0; --i, number /= 10)
    text[i] = static_cast<char>('0' + number % 10);
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, sizeof text - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Options parse(int argc, char** argv) {
  Options options;
  // scripts/test --fuzz asks for longer runs this way; --seconds goes before it.
  if (const char* seconds = std::getenv("LOSSGRAD_FUZZ_SECONDS")) options.seconds = std::stod(seconds);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--") && i + 1 == argc) throw std::runtime_error(argument + " needs a value");
    if (argument == "--seconds") {
      options.seconds = std::stod(argv[++i]);
    } else if (argument == "--seed") {
      options.seed = std::stoull(argv[++i]);
    } else if (argument == "--only") {
      options.only = std::stoull(argv[++i]);
    } else {
      options.folders.emplace_back(argument);
    }
  }
  return options;
}

std::vector<std::string> read_corpus(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const auto& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) corpus.push_back(lossgrad::read_file(path));
  if (corpus.empty()) throw std::runtime_error("no file below the folders");
  return corpus;
}

// The number of readers that accepted the case.
int run_case(const std::vector<std::string>& corpus, std::uint64_t seed, std::uint64_t number) {
  std::seed_seq sequence{seed, seed >> 32, number, number >> 32};
  std::mt19937_64 random(sequence);
  // The samples themselves first, unchanged.
  const std::string bytes = number < corpus.size() ? corpus[number] : lossgrad::fuzz::mutate(corpus, random);
  return lossgrad::fuzz::run_case(std::as_bytes(std::span(bytes)));
}

int run(const Options& options) {
  const std::vector<std::string> corpus = read_corpus(options.folders);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  std::uint64_t number = options.only.value_or(0);
  std::uint64_t accepted = 0;
  do {
    current_case = static_cast<std::sig_atomic_t>(number);
    accepted += run_case(corpus, options.seed, number) > 0 ? 1 : 0;
    ++number;
  } while (!options.only && std::chrono::steady_clock::now() < end);
  std::printf("fuzz: seed %llu, %zu samples, %llu cases, %llu accepted, no fault\n",
              static_cast<unsigned long long>(options.seed), corpus.size(),
              static_cast<unsigned long long>(number - options.only.value_or(0)),
              static_cast<unsigned long long>(accepted));
  // The samples come first, unchanged: a target that takes none of them looks at error messages alone.
  if (!options.only && accepted == 0) throw std::runtime_error("no case was accepted");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, report_crash);
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: case %ld: %s\n", static_cast<long>(current_case), error.what());
    return EXIT_FAILURE;
  }
}

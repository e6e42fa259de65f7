// SPDX-License-Identifier: Apache-2.0
// Between CLI11 and the typed options: what was given, as text. Private to cli*.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "losses/loss.hpp"

namespace lossgrad::app {

// Options of one command as they were typed.
struct Given {
  std::map<std::string, std::vector<std::string>> values;  // "--n" -> what stood after it, once per use
  std::map<std::string, bool> flags;                       // "--list"

  [[nodiscard]] bool flag(const std::string& name) const;
  // The value of an option that may be used once. Throws ErrorKind::usage for a second use, or when another
  // option stands where its value should be.
  [[nodiscard]] std::optional<std::string> value(const std::string& name) const;
  // An argument without a flag; empty when there is none. Throws ErrorKind::usage for a second one.
  [[nodiscard]] std::string positional(const std::string& name) const;
};

// The program's grammar; `given` is filled by parse(). Addresses inside both stay valid while the object
// lives.
class Syntax {
 public:
  Syntax();
  Syntax(const Syntax&) = delete;
  Syntax& operator=(const Syntax&) = delete;
  Syntax(Syntax&&) = delete;
  Syntax& operator=(Syntax&&) = delete;
  ~Syntax() = default;

  // Throws ErrorKind::usage. Afterwards command() names what was asked for.
  void parse(const std::vector<std::string>& arguments);
  // "check", "kernels show", ...; empty when no command was given.
  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] bool help_wanted() const { return help_wanted_; }
  [[nodiscard]] std::string help() const { return app_.help(); }
  [[nodiscard]] const Given& given() const { return given_; }

 private:
  CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary);
  void add_value(CLI::App& command, const std::string& name, const std::string& type,
                 const std::string& help);
  void add_flag(CLI::App& command, const std::string& name, const std::string& help);
  void add_positional(CLI::App& command, const std::string& name, const std::string& help);
  void add_common(CLI::App& command);
  void add_check();
  void add_check_of(CLI::App& check, const Loss& loss);
  void add_check_case(CLI::App& check);
  void add_check_files(CLI::App& check);
  void add_check_criteria(CLI::App& check);
  void add_selftest();
  void add_kernels();
  void reject_unknown(const CLI::App& command) const;

  CLI::App app_{"Verifies GPU loss kernels: every element of loss and gradient against its own error bound.",
                "lossgrad"};
  Given given_;
  std::string command_;
  bool help_wanted_ = false;
};

}  // namespace lossgrad::app

#include "harness/commands/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/commands/command.h"

namespace rankfault {
namespace {

struct ShellOption {
  std::string name;  // "--junit", "-k"
  std::string summary;
  bool takes_value = false;
};

struct ShellCommand {
  std::string name, summary;
  std::vector<ShellOption> options;
};

// Inside '...' of a shell script.
std::string quoted(std::string text) {
  for (size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<ShellCommand> all_commands() {
  std::vector<ShellCommand> all;
  for (const CliCommand* command : Catalog<CliCommand>::instance().all()) {
    CLI::App app;
    (void)command->setup(app);  // the function that it returns would run the command
    ShellCommand one{command->name, command->summary, {}};
    for (const CLI::Option* option : app.get_options()) {
      const bool value = option->get_items_expected_max() > 0;
      for (const std::string& name : option->get_lnames())
        one.options.push_back({"--" + name, first_line(option->get_description()), value});
      for (const std::string& name : option->get_snames())
        one.options.push_back({"-" + name, first_line(option->get_description()), value});
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string bash() {
  std::vector<std::string> names;
  std::string cases;
  for (const ShellCommand& command : all_commands()) {
    std::vector<std::string> options;
    for (const ShellOption& option : command.options) options.push_back(option.name);
    names.push_back(command.name);
    cases += fmt::format("    {}) options='{}' ;;\n", command.name, fmt::join(options, " "));
  }
  return fmt::format(
      "# bash completion of rankfault, written by `rankfault list completions bash`\n"
      "_rankfault() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} options='' i\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- \"$word\")\n"
      "    return\n"
      "  fi\n"
      "  # Behind -- stands the command of the job.\n"
      "  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
      "    [ \"${{COMP_WORDS[i]}}\" != -- ] || return\n"
      "  done\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  case $word in -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;; esac\n"
      "}}\n"
      "complete -o default -o bashdefault -F _rankfault rankfault\n",
      fmt::join(names, " "), cases);
}

std::string fish() {
  std::string out = "# fish completion of rankfault, written by `rankfault list completions fish`\n";
  for (const ShellCommand& command : all_commands()) {
    out += fmt::format("complete -c rankfault -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name,
                       quoted(command.summary));
    for (const ShellOption& option : command.options) {
      const bool is_long = option.name.starts_with("--");
      out += fmt::format("complete -c rankfault -n '__fish_seen_subcommand_from {}' {} {} -d '{}'{}\n",
                         command.name, is_long ? "-l" : "-s", option.name.substr(is_long ? 2 : 1),
                         quoted(option.summary), option.takes_value ? " -r" : "");
    }
  }
  return out;
}

// In a description, _arguments reads brackets and colons itself.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return quoted(out);
}

std::string zsh() {
  std::string names, cases;
  for (const ShellCommand& command : all_commands()) {
    names += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    cases += fmt::format("  {})\n    _arguments \\\n", command.name);
    for (const ShellOption& option : command.options)
      cases += fmt::format("      '{}[{}]{}' \\\n", option.name, zsh_text(option.summary),
                           option.takes_value ? ":value:_files" : "");
    cases += "      '*:file:_files' ;;\n";
  }
  return fmt::format(
      "#compdef rankfault\n# zsh completion of rankfault, written by `rankfault list completions zsh`\n"
      "_rankfault() {{\n  local -a commands\n  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n}}\n_rankfault \"$@\"\n",
      names, cases);
}

// A line of a manual page: a backslash and a point or quote at its start have a meaning there.
std::string roff(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else
      out += text[i];
  }
  return out;
}

}  // namespace

const std::vector<std::string>& shells() {
  static const std::vector<std::string> kAll{"bash", "fish", "zsh"};
  return kAll;
}

std::string completions_for(const std::string& shell) {
  return shell == "bash" ? bash() : shell == "fish" ? fish() : zsh();
}

std::string manual_page() {
  std::string out =
      ".\\\" written by `rankfault list man`\n.TH RANKFAULT 1 \"\" rankfault \"User Commands\"\n.SH NAME\n"
      "rankfault \\- inject faults into a multi\\-rank job at exact calls, and judge how the job responds\n"
      ".SH SYNOPSIS\n.B rankfault\n.I command\n[\\fIoptions\\fR]\n.SH COMMANDS\n";
  const std::vector<ShellCommand> all = all_commands();
  for (const ShellCommand& command : all)
    out += fmt::format(".TP\n.B {}\n{}.\n", roff(command.name), roff(command.summary));
  for (const CliCommand* command : Catalog<CliCommand>::instance().all()) {
    out += fmt::format(".SH RANKFAULT {}\n{}.\n", roff(command->name), roff(command->summary));
    const auto shown = std::find_if(all.begin(), all.end(),
                                    [&](const ShellCommand& one) { return one.name == command->name; });
    for (const ShellOption& option : shown->options)
      out += fmt::format(".TP\n.B {}{}\n{}\n", roff(option.name), option.takes_value ? " \\fIVALUE\\fR" : "",
                         roff(option.summary));
    out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command->examples));
  }
  return out;
}

}  // namespace rankfault

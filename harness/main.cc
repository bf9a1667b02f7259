// main: the command line. Each verb registers itself in commands/.
#include <fcntl.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "harness/base/json.h"
#include "harness/base/log.h"
#include "harness/base/version.h"
#include "harness/commands/command.h"
#include "harness/launch/inherited.h"

namespace {

// Opens /dev/null for each missing standard descriptor. Otherwise a file opened as descriptor 1 would receive
// the output for the terminal.
void fill_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
}

// Makes a write beyond the file size limit (ulimit -f) fail with EFBIG. Without a handler, SIGXFSZ ends the
// process. Programs that this process executes have the default action again.
void survive_size_limits() {
  struct sigaction before {
  }, none{};
  none.sa_handler = [](int) {};
  if (::sigaction(SIGXFSZ, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
    ::sigaction(SIGXFSZ, &none, nullptr);
}

// Turns a pass into an internal error when the output could not be written.
int flushed(int status) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
  std::fprintf(stderr, "rankfault: cannot write to standard output\n");
  return status == rankfault::kExitPass ? static_cast<int>(rankfault::kExitInternal) : status;
}

// CLI11 reports an unknown command as a missing one.
bool names_no_command(int argc, char** argv) {
  const auto& commands = rankfault::Catalog<rankfault::CliCommand>::instance();
  if (argc < 2 || argv[1][0] == '-' || commands.find(argv[1])) return false;
  std::fprintf(stderr, "rankfault: unknown command \"%s\"%s; rankfault --help lists them\n", argv[1],
               commands.did_you_mean(argv[1]).c_str());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rankfault;
  fill_standard_descriptors();
  note_inherited_descriptors();
  survive_size_limits();
  if (names_no_command(argc, argv)) return kExitUsage;
  CLI::App app{
      "rankfault: inject faults into a multi-rank job at exact calls, and judge how the job responds"};
  app.name("rankfault");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("rankfault ") + kVersion);
  app.fallthrough();
  std::string level = "off";
  app.add_option("--log-level", level,
                 "write the tool's own log to standard error, too: error, warn, info or debug");
  int status = kExitInternal;
  for (const CliCommand* command : Catalog<CliCommand>::instance().all()) {
    CLI::App* verb = app.add_subcommand(command->name, command->summary);
    verb->footer(command->examples);
    verb->callback([&status, &level, run = command->setup(*verb)] {
      const Status logs = log_to_terminal(level);
      status = logs ? run() : (std::fprintf(stderr, "%s\n", logs.error().message.c_str()), kExitUsage);
    });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    app.exit(e);  // prints the error; main does not return CLI11's codes
    return kExitUsage;
  } catch (const Json::exception& e) {  // a changed journal or plan
    std::fprintf(stderr, "a file of this run is damaged, or was changed: %s\n", e.what());
    return kExitUnknown;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "internal error: %s\n", e.what());
    return kExitInternal;
  }
  return flushed(status);
}

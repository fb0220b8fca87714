#include "simulator/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "simulator/errors.h"

extern char** environ;

namespace enceladus::simulator {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, CloseFile>;

// Files instead of pipes: a program may print more than a pipe holds before it reads its input.
TemporaryFile temporary_file() {
  TemporaryFile file(std::tmpfile());
  if (!file) throw SimulatorUnavailable(std::string("tmpfile: ") + std::strerror(errno));
  fcntl(fileno(file.get()), F_SETFD, FD_CLOEXEC);
  return file;
}

std::string contents(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char block[4096];
  for (size_t got; (got = std::fread(block, 1, sizeof block, file)) > 0;) text.append(block, got);
  return text;
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

std::string find_program(const std::vector<std::string>& names) {
  const char* search = std::getenv("PATH");
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0) return name;
      continue;
    }
    std::string path = search == nullptr ? "" : search;
    for (size_t begin = 0; begin <= path.size();) {
      size_t end = std::min(path.find(':', begin), path.size());
      std::string candidate = path.substr(begin, end - begin) + "/" + name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      begin = end + 1;
    }
  }
  return "";
}

ProcessResult run_process(const std::vector<std::string>& arguments, const std::string& input) {
  TemporaryFile in = temporary_file(), out = temporary_file(), error = temporary_file();
  std::fwrite(input.data(), 1, input.size(), in.get());
  std::fflush(in.get());
  lseek(fileno(in.get()), 0, SEEK_SET);

  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(error.get()), STDERR_FILENO);
  pid_t process = 0;
  int failed = posix_spawn(&process, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw SimulatorUnavailable("cannot start " + arguments[0] + ": " + std::strerror(failed));
  }
  ProcessResult result;
  result.exit_code = wait_for(process);
  result.output = contents(out.get());
  result.errors = contents(error.get());
  return result;
}

}  // namespace enceladus::simulator

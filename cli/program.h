// For tests: the program as a user calls it.
//
//   Answer answer = run_program("attend --query 2 --keys 1,2");    // answer.code, answer.out (stdout and stderr)
#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "test_paths.h"

namespace fovea {

struct Answer {
  int code = -1;  // of the exit; −1: it did not exit by itself
  std::string out;
};

struct Call {
  std::string input = "/dev/null";  // file on stdin
  std::string folder = ".";         // where it runs
};

inline Answer run_command(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  Answer answer;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) answer.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

inline Answer run_program(const std::string& arguments, const Call& call = {}) {
  return run_command("cd " + call.folder + " && " + test_program + " " + arguments + " 2>&1 <" + call.input);
}

// A line as a user types it, "fovea …", with redirections of its own.
inline Answer run_line(const std::string& line, const std::string& folder) {
  return run_command("cd " + folder + " && fovea() { " + test_program + " \"$@\"; }; (" + line + ") 2>&1 </dev/null");
}

// The program in a terminal of its own; lines end as terminals end them.
inline Answer run_in_terminal(const std::string& arguments, const std::string& folder) {
  const std::string command = "cd " + folder + " && exec " + test_program + " " + arguments;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  Answer answer;
  std::array<char, 4096> buffer;
  for (ssize_t n; (n = read(terminal, buffer.data(), buffer.size())) > 0;)
    answer.out.append(buffer.data(), static_cast<size_t>(n));
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

}  // namespace fovea

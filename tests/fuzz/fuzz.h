// For fuzzers: a file that holds the input, without touching a disk, and what may come of reading it: a value or an Error.
//
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
//     return fovea::fuzz_file({data, size}, [](const std::string& path) { fovea::read_npy(path); });
//   }
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea {

// Anything but an Error that is thrown ends the fuzzer with a finding.
template <class Read>
int fuzz_text(std::span<const uint8_t> input, Read read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(input.data()), input.size()));
  } catch (const Error&) {
  }
  return 0;
}

template <class Read>
int fuzz_file(std::span<const uint8_t> input, Read read) {
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (write(file, input.data(), input.size()) != static_cast<ssize_t>(input.size())) std::abort();
  try {
    read("/proc/self/fd/" + std::to_string(file));
  } catch (const Error&) {
  }
  close(file);
  return 0;
}

}  // namespace fovea

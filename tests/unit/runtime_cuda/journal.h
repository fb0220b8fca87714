// What tests of the CUDA runtime share: the fake driver's journal, and settings of one test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/cuda/device.h"

namespace enceladus::cuda {

// The calls that the fake driver saw, in the life of one of these.
class Journal {
 public:
  Journal() : path_(testing::TempDir() + "fake_cuda_journal." + std::to_string(getpid())) {
    std::remove(path_.c_str());
    setenv("FAKE_CUDA_JOURNAL", path_.c_str(), 1);
  }
  ~Journal() {
    unsetenv("FAKE_CUDA_JOURNAL");
    std::remove(path_.c_str());
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> found;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) found.push_back(line);
    return found;
  }
  // Lines that start with the words.
  std::vector<std::string> lines(const std::string& start) const {
    std::vector<std::string> found;
    for (const std::string& line : lines())
      if (line.rfind(start, 0) == 0) found.push_back(line);
    return found;
  }

 private:
  std::string path_;
};

class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

inline const int two_devices = setenv("FAKE_CUDA_DEVICES", "2", 0);
inline Device& device() { return *devices().front(); }

inline Parameter array(const char* name, bool is_read, bool is_written) {
  return {.name = name,
          .dtype = DType::kFloat32,
          .is_pointer = true,
          .is_read = is_read,
          .is_written = is_written};
}

// A kernel that the fake driver knows by its entry's name.
inline Ref<Kernel> load(const std::string& entry, std::vector<Parameter> parameters,
                        Artifact artifact = {}, Device& on = device()) {
  artifact.target = "cuda";
  artifact.kernel = artifact.entry = entry;
  artifact.binary = "no cubin";
  artifact.parameters = std::move(parameters);
  return on.load(std::move(artifact));
}

inline Ref<Kernel> add_kernel() {
  return load("add_kernel", {array("x", true, false),
                             array("y", true, false),
                             array("out", false, true),
                             {.name = "n", .dtype = DType::kInt32}});
}

inline uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// What `call` throws, as text; empty where it throws nothing.
template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace enceladus::cuda

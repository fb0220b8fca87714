// The shared object of a compiled kernel, loaded: its entry function, its threadgroup arrays, and
// the lines of its instructions. Closing it unmaps the code.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "simulator/report.h"

namespace enceladus::simulator {

// Runs the kernel for one thread: `slots` has an address per parameter, `builtins` three words per
// built-in value.
using KernelEntry = void (*)(const uint64_t* slots, const uint32_t* builtins);

struct ThreadgroupArray {
  uintptr_t address;
  size_t bytes;
  std::string name;
};

class KernelImage {
 public:
  // `msl` is the text, for the lines in reports. Throws SimulatorUnavailable.
  KernelImage(const std::string& object_path, const std::string& msl);
  ~KernelImage();
  KernelImage(const KernelImage&) = delete;
  KernelImage& operator=(const KernelImage&) = delete;

  KernelEntry entry() const { return entry_; }
  const std::vector<ThreadgroupArray>& threadgroup_arrays() const { return arrays_; }
  uintptr_t base() const { return base_; }
  // Whether an address lies in the image (its constants, for example).
  bool holds(uintptr_t address) const { return address >= base_ && address < end_; }
  // The outermost line of the MSL text for each instruction, given as an offset from the base.
  // Asks a symbolizer program once; without one the lines are 0.
  std::vector<Place> places_of(const std::vector<uint32_t>& codes) const;
  Place place_of_line(uint32_t line, uint32_t column) const;
  // Launches of one image take turns: its threadgroup arrays exist once.
  std::mutex& launch_mutex() const { return launch_mutex_; }

 private:
  void find_extent();
  void read_arrays();

  std::string object_path_;
  std::vector<std::string> lines_;
  std::vector<std::string> sources_;  // for each line, what the last `// file.py:12` named
  void* handle_ = nullptr;
  KernelEntry entry_ = nullptr;
  uintptr_t base_ = 0;
  uintptr_t end_ = 0;
  std::vector<ThreadgroupArray> arrays_;
  mutable std::mutex launch_mutex_;
};

}  // namespace enceladus::simulator

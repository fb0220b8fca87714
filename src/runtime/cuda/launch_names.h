// Which kernels were launched since the device was last known to be fine: the suspects when a
// synchronization finds an error, which the driver does not ascribe to a launch.
#pragma once

#include <string>
#include <vector>

namespace enceladus::cuda {

class LaunchNames {
 public:
  // The name's text outlives the object.
  void add(const std::string& kernel) {
    if (!names_.empty() && names_.back() == &kernel) return;
    names_.push_back(&kernel);
    if (names_.size() > kKept) names_.erase(names_.begin(), names_.begin() + kKept / 2);
  }
  void clear() { names_.clear(); }
  // "kernel `a`", or "one of the kernels `a`, `b`" with the newest last; empty for none.
  std::string text() const;

 private:
  static constexpr int kKept = 16;
  std::vector<const std::string*> names_;
};

}  // namespace enceladus::cuda

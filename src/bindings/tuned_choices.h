// What an autotuned kernel remembers of its launches: for arguments like these, that config. A hit
// spares a repeated launch the Python that chooses. Arguments are told apart at least as finely as
// the autotuner does (values of its `key`, dtypes, devices); what it must see itself is never
// remembered. Not here: how a config is found.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings/launch_binding.h"
#include "bindings/launch_key.h"

namespace enceladus {

// A config, as what it adds to the keywords of a launch.
struct TunedChoice {
  nanobind::object config;
  nanobind::object keywords;  // of the launch alone: a tuple, or None; keeps its names alive
  nanobind::object names;     // a tuple: the launch's keywords, then the config's
  std::vector<nanobind::object> values;  // the config's
};

// Under the interpreter lock.
class TunedChoices {
 public:
  // `key_names`: the parameters whose values count.
  TunedChoices(nanobind::object kernel, nanobind::handle key_names);

  PyObject* kernel() const { return kernel_.ptr(); }

  // Writes what the choice depends on; false where only the autotuner can tell.
  bool write_key(const CallArguments& call, KeyWriter& key) const;
  std::shared_ptr<const TunedChoice> find(std::string_view key) const;
  void remember(std::string_view key, const CallArguments& call, nanobind::object config);
  void forget() { choices_.clear(); }

  int traverse(visitproc visit, void* arg);

 private:
  bool write_argument(PyObject* value, int parameter, KeyWriter& key) const;

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  nanobind::object kernel_;
  std::vector<bool> is_key_;  // by parameter
  std::unordered_map<std::string, std::shared_ptr<const TunedChoice>, Hash, std::equal_to<>>
      choices_;
};

}  // namespace enceladus

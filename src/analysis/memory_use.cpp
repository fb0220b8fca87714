#include "analysis/memory_use.h"

#include "analysis/effects.h"

namespace enceladus::analysis {

std::vector<ParameterUse> parameter_uses(const ir::Function& function) {
  MemoryEffects effects(function);
  std::vector<ParameterUse> uses(function.parameters().size());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!function.parameters()[i].type.is_pointer()) continue;
    uses[i].is_read = effects.is_read(static_cast<int>(i));
    uses[i].is_written = effects.is_written(static_cast<int>(i));
  }
  return uses;
}

}  // namespace enceladus::analysis

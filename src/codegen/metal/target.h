// What Apple's GPUs have, for the lowering. Not: words of the language (dialect.h).
#pragma once

#include "lowering/tile_to_simt/target.h"

namespace enceladus::metal {

const simt::SimtTarget& simt_target();

}  // namespace enceladus::metal

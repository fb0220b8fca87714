// The CPU as a device: one per process, with one stream.
#pragma once

#include "runtime/common/device.h"

namespace enceladus::cpu {

// Created on first use, never destroyed.
Device& device();

}  // namespace enceladus::cpu

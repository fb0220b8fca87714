// The CPU as a device: one per process, with one stream.
#pragma once

#include "runtime/common/device.h"

namespace enceladus::cpu {

// Created on first use, never destroyed. Throws std::invalid_argument when ENCELADUS_NUM_THREADS,
// which is read then, is no number of threads.
Device& device();

// Threads that run kernels, the calling one included.
int thread_count();

}  // namespace enceladus::cpu

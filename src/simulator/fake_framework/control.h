// What a test of a host program chooses and reads: plain C functions of the shared object, beside
// those that Apple's libraries have. A host program needs none of them; it finds them with `dlsym`.
//
// Texts are JSON. A function that writes one gives its length; the text is cut at the capacity,
// with a zero at its end, and kept for the next call where it did not fit.
#pragma once

#include <cstdint>

#include "simulator/fake_framework/runtime.h"

// The chip that a host finds when it opens the device: of family Apple1 to Apple10, and whether it
// has Metal 4.
ENCELADUS_EXPORT void enceladus_sim_set_family(uint64_t family, int32_t metal4);
// Whether the system is one that knows MTLLogState.
ENCELADUS_EXPORT void enceladus_sim_set_has_logs(int32_t has_logs);
// How launches run from now on. `kind`: 0 in order, 1 reversed, 2 random from the seed.
ENCELADUS_EXPORT void enceladus_sim_set_schedule(int32_t kind, uint64_t seed);
// Whether a SIMD operation of only some lanes is an error; it is at the start.
ENCELADUS_EXPORT void enceladus_sim_set_strict(int32_t strict);
// 0: matrix elements in lanes as Apple's GPUs have them; 1: in another way.
ENCELADUS_EXPORT void enceladus_sim_set_fragment_layout(int32_t layout);
// Basic blocks without a barrier or an end after which a thread counts as caught in a loop.
ENCELADUS_EXPORT void enceladus_sim_set_watchdog(uint64_t steps);
// 0: launches do nothing, to measure or to count objects of the host.
ENCELADUS_EXPORT void enceladus_sim_set_executes(int32_t executes);
// 0: launches are checked and forgotten, to measure a host without what a record costs its caches.
ENCELADUS_EXPORT void enceladus_sim_set_records(int32_t records);
// Microseconds by which each command buffer is completed late.
ENCELADUS_EXPORT void enceladus_sim_set_delay(int64_t microseconds);

// The call of that selector or C function after `skip` more calls fails in the way that it can
// fail: with nil, with an NSError, or with an error of its command buffer.
ENCELADUS_EXPORT void enceladus_sim_inject(const char* call, int64_t skip);
ENCELADUS_EXPORT void enceladus_sim_clear_injections();
// {"-[MTLDevice newBufferWithLength:options:]": {"calls": 3, "can_fail": true}, ...}: what was
// called since the last reset.
ENCELADUS_EXPORT int64_t enceladus_sim_calls(char* text, int64_t capacity);
ENCELADUS_EXPORT void enceladus_sim_reset_calls();

// How the host broke the contract of Objective-C or Metal: a list of sentences, each once.
ENCELADUS_EXPORT int64_t enceladus_sim_take_violations(char* text, int64_t capacity);
// What the simulator found in kernels: a list of objects with kind, kernel, message, place, ...
ENCELADUS_EXPORT int64_t enceladus_sim_take_reports(char* text, int64_t capacity);

// Objects that live, without classes, selectors and the device.
ENCELADUS_EXPORT int64_t enceladus_sim_live_objects();
// {"MTLBuffer": 2, ...}
ENCELADUS_EXPORT int64_t enceladus_sim_report_objects(char* text, int64_t capacity);
// Time that threads of the host have spent inside the stand-in.
ENCELADUS_EXPORT int64_t enceladus_sim_nanoseconds_inside();

// Narrows what the next launches of an MTLComputeCommandEncoder may touch of the buffer in a slot
// to that many bytes from its offset on: a wrapped page holds more than the array that was meant.
ENCELADUS_EXPORT void enceladus_sim_set_extent(Object* encoder, uint64_t slot, uint64_t bytes);

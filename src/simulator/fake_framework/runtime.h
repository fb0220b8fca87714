// The C functions that a host program finds in libobjc and Metal.framework with `dlsym`. Names and
// signatures are Apple's, with `Object*` for id and Class.
#pragma once

#include <cstdint>

#include "simulator/fake_framework/object.h"

#define ENCELADUS_EXPORT extern "C" __attribute__((visibility("default")))

using enceladus::fake_metal::Object;
using enceladus::fake_metal::Selector;

// Called through exact types; `real` is the first floating-point argument, `stack` what did not fit
// into registers, structures of more than 16 bytes among it.
ENCELADUS_EXPORT enceladus::fake_metal::Result objc_msgSend(
    Object* self, Selector selector, uint64_t a, uint64_t b, uint64_t c, uint64_t d, double real,
    enceladus::fake_metal::StackWords stack);
ENCELADUS_EXPORT Object* objc_getClass(const char* name);
ENCELADUS_EXPORT Object* objc_lookUpClass(const char* name);
ENCELADUS_EXPORT Selector sel_registerName(const char* name);
ENCELADUS_EXPORT const char* sel_getName(Selector selector);
ENCELADUS_EXPORT Object* object_getClass(Object* object);
ENCELADUS_EXPORT const char* object_getClassName(Object* object);
ENCELADUS_EXPORT const char* class_getName(Object* type);
ENCELADUS_EXPORT Object* objc_retain(Object* object);
ENCELADUS_EXPORT void objc_release(Object* object);
ENCELADUS_EXPORT Object* objc_autorelease(Object* object);
ENCELADUS_EXPORT void* objc_autoreleasePoolPush();
ENCELADUS_EXPORT void objc_autoreleasePoolPop(void* pool);

ENCELADUS_EXPORT Object* MTLCreateSystemDefaultDevice();
ENCELADUS_EXPORT Object* MTLCopyAllDevices();

ENCELADUS_EXPORT void* _Block_copy(const void* block);
ENCELADUS_EXPORT void _Block_release(const void* block);
// What the first word of a block names.
ENCELADUS_EXPORT void* _NSConcreteStackBlock[32];
ENCELADUS_EXPORT void* _NSConcreteGlobalBlock[32];

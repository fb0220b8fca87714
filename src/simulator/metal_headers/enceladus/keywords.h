// Words of MSL that OpenCL spells otherwise, and the scalar types.
#pragma once

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION __cl_clang_non_portable_kernel_param_types : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

#define device __global
#define threadgroup __local
#define thread __private
#define constant __constant
#define kernel __kernel
#define double enceladus_error_double_is_not_a_type_of_metal

// Keywords of OpenCL that are free names in MSL.
#define local enceladus_name_local
#define global enceladus_name_global
#define generic enceladus_name_generic
#define pipe enceladus_name_pipe
#define read_only enceladus_name_read_only
#define write_only enceladus_name_write_only
#define read_write enceladus_name_read_write
#define vec_step enceladus_name_vec_step

#define __METAL_VERSION__ ENCELADUS_METAL_VERSION
#define METAL_FUNC inline __attribute__((always_inline))
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_huge_valf()
#define MAXFLOAT 0x1.fffffep127f
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#define HALF_MAX 65504.0h
#define M_PI_F 3.14159274101257324219f
#define M_E_F 2.71828174591064453125f
#define M_LN2_F 0.693147182464599609375f
#define M_LOG2E_F 1.44269502162933349609f
#define CHAR_MAX 127
#define SHRT_MAX 32767
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef __bf16 bfloat;

// Places of calls for the runtime's reports.
#define ENCELADUS_PLACE uint line = __builtin_LINE(), uint column = __builtin_COLUMN()

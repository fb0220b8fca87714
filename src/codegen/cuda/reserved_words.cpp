// Keywords, types, functions and variables that a kernel's names keep clear of.
#include "codegen/cuda/dialect.h"

namespace enceladus::cuda {
namespace {

constexpr std::string_view kReserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
    "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while", "xor", "xor_eq", "linux", "unix", "NULL", "NAN", "INFINITY",
    // types
    "char1", "char2", "char3", "char4", "uchar1", "uchar2", "uchar3", "uchar4", "short1", "short2",
    "short3", "short4", "ushort1", "ushort2", "ushort3", "ushort4", "int1", "int2", "int3", "int4",
    "uint1", "uint2", "uint3", "uint4", "long1", "long2", "long3", "long4", "ulong1", "ulong2",
    "float1", "float2", "float3", "float4", "double1", "double2", "double3", "double4", "longlong1",
    "longlong2", "ulonglong1", "ulonglong2", "dim3", "size_t", "ptrdiff_t", "cudaStream_t", "schar",
    "uchar", "ushort", "uint", "ulong", "half", "bfloat", "Word",
    // variables and functions
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "abort", "abs", "acos", "acosf",
    "all", "any", "asin", "asinf", "assert", "atan", "atan2", "atan2f", "atanf", "atomicAdd",
    "atomicAnd", "atomicCAS", "atomicDec", "atomicExch", "atomicInc", "atomicMax", "atomicMin",
    "atomicOr", "atomicSub", "atomicXor", "ballot", "cbrt", "cbrtf", "ceil", "ceilf", "clock",
    "clock64", "copysign", "copysignf", "cos", "cosf", "cosh", "coshf", "erf", "erff", "exp",
    "exp10", "exp10f", "exp2", "exp2f", "expf", "expm1", "expm1f", "fabs", "fabsf", "fdim", "floor",
    "floorf", "fma", "fmaf", "fmax", "fmaxf", "fmin", "fminf", "fmod", "fmodf", "free", "frexp",
    "hypot", "hypotf", "isfinite", "isinf", "isnan", "j0", "j1", "jn", "labs", "ldexp", "lgamma",
    "llabs", "log", "log10", "log10f", "log1p", "log1pf", "log2", "log2f", "logb", "logf", "malloc",
    "max", "memcpy", "memset", "min", "modf", "norm", "pow", "powf", "printf", "remainder", "rint",
    "rnorm", "round", "rsqrt", "rsqrtf", "saturate", "sin", "sincos", "sincosf", "sinf", "sinh",
    "sinhf", "sqrt", "sqrtf", "tan", "tanf", "tanh", "tanhf", "tgamma", "trap", "trunc", "truncf",
    "umax", "umin", "y0", "y1", "yn", "as_type",
    // what every kernel has
    "lane", "warp", "shared", "grid_x", "grid_y", "grid_z", "map", "TensorMap", "i", "k",
    "messages", "r"};

}  // namespace

std::span<const std::string_view> reserved_words() { return kReserved; }

}  // namespace enceladus::cuda

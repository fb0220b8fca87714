// Keywords, types, functions and attributes that a kernel's names keep clear of.
#include "codegen/metal/dialect.h"

namespace enceladus::metal {
namespace {

constexpr std::string_view kReserved[] = {
    "alignas", "alignof", "and", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
    "char", "class", "compl", "const", "const_cast", "constant", "constexpr", "continue",
    "decltype", "default", "delete", "device", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "fragment", "friend", "goto", "half",
    "if", "inline", "int", "kernel", "long", "main", "metal", "mutable", "namespace", "new",
    "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "register",
    "reinterpret_cast", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread", "threadgroup",
    "threadgroup_imageblock", "throw", "true", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "vertex", "virtual", "void", "volatile", "wchar_t", "while", "xor", "mesh",
    "object", "ray_data", "visible", "intersection", "uchar", "ushort", "uint", "ulong", "size_t",
    "ptrdiff_t", "bfloat", "atomic_int", "atomic_uint", "atomic_float", "atomic_bool", "sampler",
    "texture", "vec", "matrix", "packed_float2", "float2", "float3", "float4", "half2", "half3",
    "half4", "int2", "int3", "int4", "uint2", "uint3", "uint4", "char2", "char4", "uchar2",
    "uchar4", "short2", "short4", "ushort2", "ushort4", "long2", "ulong2", "bool2", "bool4", "abs",
    "acos", "all", "any", "asin", "atan", "atan2", "as_type", "ceil", "clamp", "clz", "copysign",
    "cos", "cosh", "cross", "ctz", "discard_fragment", "distance", "dot", "exp", "exp10", "exp2",
    "fabs", "fast", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "fract", "frexp", "ilogb",
    "isfinite", "isinf", "isnan", "isnormal", "ldexp", "length", "log", "log10", "log2", "max",
    "max3", "median3", "min", "min3", "mix", "modf", "mulhi", "normalize", "popcount", "pow",
    "powr", "precise", "reverse_bits", "rint", "rotate", "round", "rsqrt", "saturate", "select",
    "sign", "sin", "sincos", "sinh", "smoothstep", "sqrt", "step", "tan", "tanh", "trunc",
    "simd_sum", "simd_max", "simd_min", "simd_shuffle", "simd_shuffle_xor", "quad_sum",
    "threadgroup_barrier", "simdgroup_barrier", "mem_flags", "os_log", "NULL", "NAN", "INFINITY",
    "MAXFLOAT", "HUGE_VALF",
    // what every kernel has
    "program", "programs", "lane", "warp", "scalars", "Scalars", "shared", "failure",
    "os_log_default", "r"};

}  // namespace

std::span<const std::string_view> reserved_words() { return kReserved; }

}  // namespace enceladus::metal

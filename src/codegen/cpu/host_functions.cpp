#include "codegen/cpu/host_functions.h"

#include <cinttypes>
#include <cstdio>
#include <string>

#include "ir/builder.h"
#include "support/dtype.h"

namespace enceladus::cpu {
namespace {

constexpr int32_t kHexFlag = 256;

std::string tuple_text(const int32_t* values, int32_t count) {
  std::string text = "(";
  for (int32_t i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + ")";
}

std::string element_text(int32_t format, uint64_t bits) {
  const DType dtype = static_cast<DType>(format & ~kHexFlag);
  char text[400];
  if (format & kHexFlag) {
    std::snprintf(text, sizeof text, "0x%0*" PRIx64, 2 * byte_size(dtype), bits);
  } else if (is_float(dtype)) {
    std::snprintf(text, sizeof text, "%f", ir::double_of_bits(dtype, bits));
  } else if (dtype == DType::kUInt64) {
    std::snprintf(text, sizeof text, "%" PRIu64, bits);
  } else {
    std::snprintf(text, sizeof text, "%" PRId64, ir::integer_of_bits(dtype, bits));
  }
  return text;
}

void print_line(const CpuLaunch* launch, const std::string& line) {
  launch->host->print(launch->host_context, line.data(), static_cast<int64_t>(line.size()));
}

void print_text(const CpuLaunch* launch, const int32_t* program, const char* label) {
  print_line(launch, "pid " + tuple_text(program, 3) + label);
}

void print_element(const CpuLaunch* launch, const int32_t* program, const char* label, int32_t rank,
                   const int32_t* position, int32_t format, uint64_t bits) {
  print_line(launch, "pid " + tuple_text(program, 3) + " idx " + tuple_text(position, rank) +
                         label + element_text(format, bits));
}

void report_failure(const CpuLaunch* launch, int32_t kind, const char* message,
                    const int32_t* program) {
  launch->host->failed(launch->host_context, kind, message, program);
}

// An access outside its array: at `address`, of an array in [low, high).
void report_out_of_bounds(const CpuLaunch* launch, const int32_t* program, const char* access,
                          uint64_t address, uint64_t low, uint64_t high, int64_t bytes,
                          int32_t rank, const int32_t* position) {
  const int64_t element = (static_cast<int64_t>(address) - static_cast<int64_t>(low)) / bytes;
  const bool is_far = element > kFarthestElement / 2 || element < -kFarthestElement / 2;
  const int64_t elements = static_cast<int64_t>(high - low) / bytes;
  std::string index;  // as Python writes a tuple
  for (int32_t axis = 0; axis < rank; ++axis)
    index += (axis ? " " : "") + std::to_string(position[axis]) +
             (axis + 1 < rank || rank == 1 ? "," : "");
  std::string where = "at element " + std::to_string(element) + ", outside";
  if (is_far) where = element > 0 ? "far behind the last of" : "far before the first of";
  const std::string message = std::string(access) + " " + where + " its " +
                              std::to_string(elements) + " elements (index (" + index + "))";
  launch->host->failed(launch->host_context, 1, message.c_str(), program);
}

}  // namespace

void* host_function(std::string_view symbol) {
  if (symbol == "enceladus_cpu_print_text") return reinterpret_cast<void*>(&print_text);
  if (symbol == "enceladus_cpu_print_element") return reinterpret_cast<void*>(&print_element);
  if (symbol == "enceladus_cpu_out_of_bounds")
    return reinterpret_cast<void*>(&report_out_of_bounds);
  if (symbol == "enceladus_cpu_failed") return reinterpret_cast<void*>(&report_failure);
  return nullptr;
}

}  // namespace enceladus::cpu

#include "runtime/cuda/tensor_maps.h"

#include <algorithm>

#include "runtime/common/failure.h"

namespace enceladus::cuda {
namespace {

constexpr size_t kMostAxes = 5;
constexpr uint64_t kStrideUnit = 16;  // bytes

// The number that a parameter's slot holds. Signed integers are stored without their sign's
// extension.
int64_t parameter_value(const Parameter& parameter, uint64_t bits) {
  if (parameter.is_pointer || is_unsigned(parameter.dtype)) return static_cast<int64_t>(bits);
  switch (byte_size(parameter.dtype)) {
    case 1:
      return static_cast<int8_t>(bits);
    case 2:
      return static_cast<int16_t>(bits);
    case 4:
      return static_cast<int32_t>(bits);
    default:
      return static_cast<int64_t>(bits);
  }
}

int64_t combine(LaunchStep::Kind kind, int64_t a, int64_t b) {
  switch (kind) {
    case LaunchStep::Kind::kAdd:
      return a + b;
    case LaunchStep::Kind::kSubtract:
      return a - b;
    case LaunchStep::Kind::kMultiply:
      return a * b;
    case LaunchStep::Kind::kDivide:
      if (b == 0) throw DeviceFailure("cuda", "a tensor map's extent is divided by zero");
      return a / b;
    case LaunchStep::Kind::kMinimum:
      return std::min(a, b);
    case LaunchStep::Kind::kMaximum:
      return std::max(a, b);
    case LaunchStep::Kind::kConstant:
    case LaunchStep::Kind::kParameter:
      break;
  }
  return a;
}

// One map's arguments in the driver's types, read from the front of `values`.
struct MapArguments {
  uint64_t address = 0;
  std::array<uint64_t, kMostAxes> shape{};
  std::array<uint64_t, kMostAxes> strides{};
  std::array<uint32_t, kMostAxes> box{};
  std::array<uint32_t, kMostAxes> element_strides{};
};

MapArguments take_arguments(const TensorMap& map, std::span<const int64_t>& values) {
  const auto next = [&] {
    const auto value = static_cast<uint64_t>(values.front());
    values = values.subspan(1);
    return value;
  };
  MapArguments arguments;
  arguments.address = next();
  for (size_t axis = 0; axis < map.shape.size(); ++axis) arguments.shape[axis] = next();
  for (size_t axis = 0; axis < map.strides.size(); ++axis) arguments.strides[axis] = next();
  for (size_t axis = 0; axis < map.box.size(); ++axis)
    arguments.box[axis] = static_cast<uint32_t>(map.box[axis]);
  arguments.element_strides.fill(1);
  return arguments;
}

// An array with an extent of zero as one element of blank memory: a load finds zeros wherever it
// looks, in that element or outside of it.
void make_describable(const TensorMap& map, const Context& context, MapArguments& arguments) {
  const auto end = arguments.shape.begin() + static_cast<std::ptrdiff_t>(map.shape.size());
  if (std::find(arguments.shape.begin(), end, 0) == end) return;
  const bool is_stored = map.promotion == 0;
  arguments.address = context.blank_memory() + (is_stored ? Context::kBlankBytes : 0);
  arguments.shape.fill(1);
  arguments.strides.fill(kStrideUnit);
}

std::string describe(const MapArguments& arguments, size_t rank) {
  std::string text = "cuTensorMapEncodeTiled (shape";
  for (size_t axis = 0; axis < rank; ++axis) text += " " + std::to_string(arguments.shape[axis]);
  text += ", strides in bytes";
  for (size_t axis = 0; axis + 1 < rank; ++axis)
    text += " " + std::to_string(arguments.strides[axis]);
  text += ", box";
  for (size_t axis = 0; axis < rank; ++axis) text += " " + std::to_string(arguments.box[axis]);
  return text + ", innermost first)";
}

}  // namespace

int64_t evaluate(const LaunchExpression& expression, const std::vector<Parameter>& parameters,
                 std::span<const uint64_t> values) {
  std::vector<int64_t> stack;
  for (const LaunchStep& step : expression) {
    const auto index = static_cast<size_t>(step.value);
    if (step.kind == LaunchStep::Kind::kConstant) {
      stack.push_back(step.value);
    } else if (step.kind == LaunchStep::Kind::kParameter) {
      stack.push_back(parameter_value(parameters[index], values[index]));
    } else {
      const int64_t right = stack.back();
      stack.pop_back();
      stack.back() = combine(step.kind, stack.back(), right);
    }
  }
  return stack.back();
}

std::vector<int64_t> TensorMapCache::values_of(std::span<const uint64_t> parameters) const {
  std::vector<int64_t> values;
  const auto add = [&](const LaunchExpression& expression) {
    values.push_back(evaluate(expression, artifact_.parameters, parameters));
  };
  for (const TensorMap& map : artifact_.tensor_maps) {
    add(map.address);
    for (const LaunchExpression& extent : map.shape) add(extent);
    for (const LaunchExpression& stride : map.strides) add(stride);
  }
  return values;
}

std::vector<EncodedMap> TensorMapCache::encode_all(const Context& context,
                                                   std::span<const int64_t> values) const {
  std::vector<EncodedMap> maps(artifact_.tensor_maps.size());
  for (size_t index = 0; index < maps.size(); ++index) {
    const TensorMap& map = artifact_.tensor_maps[index];
    MapArguments arguments = take_arguments(map, values);
    make_describable(map, context, arguments);
    const Result result = context.driver().encode_tensor_map(
        &maps[index], map.element, static_cast<uint32_t>(map.shape.size()),
        reinterpret_cast<void*>(arguments.address), arguments.shape.data(),
        arguments.strides.data(), arguments.box.data(), arguments.element_strides.data(),
        /*interleave=*/0, map.swizzle, map.promotion, /*fill=*/0);
    if (result != kSuccess)
      context.check(result, describe(arguments, map.shape.size()).c_str(), artifact_.kernel);
  }
  return maps;
}

std::span<EncodedMap> TensorMapCache::encode(const Context& context,
                                             std::span<const uint64_t> parameters) {
  if (artifact_.tensor_maps.empty()) return {};
  std::vector<int64_t> values = values_of(parameters);
  for (Entry& entry : entries_)
    if (entry.values == values) return entry.maps;
  std::vector<EncodedMap> maps = encode_all(context, values);
  if (entries_.size() < kEntries) entries_.emplace_back();
  Entry& entry = entries_[next_++ % kEntries];
  entry = {std::move(values), std::move(maps)};
  return entry.maps;
}

}  // namespace enceladus::cuda

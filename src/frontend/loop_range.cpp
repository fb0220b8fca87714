#include "frontend/loop_range.h"

#include "frontend/calls.h"
#include "frontend/evaluate.h"
#include "frontend/functions.h"
#include "frontend/literals.h"
#include "frontend/names.h"

namespace enceladus::frontend {
namespace {

struct Bounds {
  Value lower, upper, step;
};

Bounds bounds_of(const Value& first, const Value* second, const Value* step) {
  Value zero = Value::constant(nb::int_(0)), one = Value::constant(nb::int_(1));
  bool given = second && !second->is_none();
  return {given ? first : zero, given ? *second : first, step && !step->is_none() ? *step : one};
}

// int64 where a bound does not fit in int32 by its type or value.
DType index_dtype(Context& context, const Bounds& bounds) {
  DType result = DType::kInt32;
  for (const Value* value : {&bounds.lower, &bounds.upper, &bounds.step}) {
    if (!is_number(context, *value) ||
        (value->is_runtime() && (value->type().rank() != 0 || !value->type().is_integer())))
      context.fail(DiagnosticId::kRangeBound, {describe(*value)});
    DType dtype = value->is_runtime() ? value->type().dtype()
                                      : default_dtype(*literal_of(context, value->object));
    if (is_float(dtype)) context.fail(DiagnosticId::kRangeBound, {describe(*value)});
    bool narrow = bit_width(dtype) < 32 || dtype == DType::kInt32;
    if (!narrow) result = DType::kInt64;
  }
  return result;
}

LoopRange runtime_range(Context& context, const Bounds& bounds) {
  if (constant_int(bounds.step) == 0) context.fail(DiagnosticId::kZeroStep);
  DType dtype = index_dtype(context, bounds);
  LoopRange range;
  range.lower = materialize_as(context, bounds.lower, dtype);
  range.upper = materialize_as(context, bounds.upper, dtype);
  range.step = materialize_as(context, bounds.step, dtype);
  return range;
}

// Iterations that are unrolled at most: the frontend recurses into those behind a run-time `break`,
// and the pipeline takes kernels of some 20,000 operations.
constexpr uint64_t kMaxUnrolled = 5000;

// The iterations of a range with a step other than 0; right for every 64-bit bound.
uint64_t iteration_count(int64_t first, int64_t last, int64_t step) {
  if (step > 0 ? first >= last : first <= last) return 0;
  auto distance = step > 0 ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first)
                           : static_cast<uint64_t>(first) - static_cast<uint64_t>(last);
  uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return (distance - 1) / stride + 1;
}

LoopRange static_range(Context& context, const Bounds& bounds) {
  auto constant = [&](const Value& value, const char* which) {
    std::optional<int64_t> result = constant_int(value);
    if (!result) context.fail(DiagnosticId::kConstantNeeded, {"`tl.static_range`", which});
    return *result;
  };
  LoopRange range;
  range.is_static = true;
  range.first = constant(bounds.lower, "its start");
  range.last = constant(bounds.upper, "its end");
  range.increment = constant(bounds.step, "its step");
  if (range.increment == 0) context.fail(DiagnosticId::kZeroStep);
  uint64_t count = iteration_count(range.first, range.last, range.increment);
  if (count > kMaxUnrolled)
    context.fail(DiagnosticId::kUnrollCount, {std::to_string(count), std::to_string(kMaxUnrolled)});
  return range;
}

void add_hint(LoopRange& range, const Arguments& arguments, ir::AttributeName attribute,
              const char* name) {
  const Value& given = arguments.value(name);
  if (given.is_none() || given.is_false()) return;
  int64_t value = given.is_true() ? 1 : arguments.integer(name);
  if (value != 0) range.hints.push_back({attribute, value});
}

LoopRange tl_range(Context& context, const CallArguments& given, const Node& node) {
  Arguments arguments(context, function_record(FunctionId::kRange), given, node);
  Value first = arguments.value("arg1"), second = arguments.value("arg2"),
        step = arguments.value("step");
  LoopRange range = runtime_range(context, bounds_of(first, &second, &step));
  add_hint(range, arguments, ir::AttributeName::kNumStages, "num_stages");
  add_hint(range, arguments, ir::AttributeName::kLoopUnrollFactor, "loop_unroll_factor");
  add_hint(range, arguments, ir::AttributeName::kFlatten, "flatten");
  add_hint(range, arguments, ir::AttributeName::kWarpSpecialize, "warp_specialize");
  add_hint(range, arguments, ir::AttributeName::kDisallowAccMultiBuffer,
           "disallow_acc_multi_buffer");
  return range;
}

LoopRange python_range(Context& context, const CallArguments& given) {
  size_t count = given.positional.size();
  if (count < 1 || count > 3 || !given.keywords.empty())
    context.fail(DiagnosticId::kRangeArguments, {std::to_string(count)});
  auto at = [&](size_t i) { return i < count ? &given.positional[i].value : nullptr; };
  return runtime_range(context, bounds_of(*at(0), at(1), at(2)));
}

}  // namespace

std::optional<LoopRange> loop_range(Context& context, const Node& node) {
  if (node.kind != NodeKind::kCall) return std::nullopt;
  bool named = node.first->kind == NodeKind::kName || node.first->kind == NodeKind::kAttribute;
  if (!named) return std::nullopt;
  if (node.first->kind == NodeKind::kAttribute && node.first->first->kind != NodeKind::kName)
    return std::nullopt;
  Value callee = evaluate(context, *node.first);
  if (!callee.is_constant()) return std::nullopt;
  bool is_python = callee.object.is(known().range);
  if (!is_python) {
    std::optional<FunctionId> id = function_of(callee.object);
    if (id != FunctionId::kRange && id != FunctionId::kStaticRange) return std::nullopt;
  }
  CallArguments given = evaluate_arguments(context, node);
  context.at(node);
  if (is_python) return python_range(context, given);
  if (function_of(callee.object) == FunctionId::kRange) return tl_range(context, given, node);
  Arguments arguments(context, function_record(FunctionId::kStaticRange), given, node);
  Value first = arguments.value("arg1"), second = arguments.value("arg2"),
        step = arguments.value("step");
  return static_range(context, bounds_of(first, &second, &step));
}

}  // namespace enceladus::frontend

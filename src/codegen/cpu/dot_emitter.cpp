#include "codegen/cpu/dot_emitter.h"

#include "codegen/cpu/casts.h"
#include "codegen/cpu/gemm.h"
#include "codegen/cpu/ir_loops.h"
#include "ir/builder.h"

namespace enceladus::cpu {
namespace {

using llvm::Value;

// What the products add up in; narrow accumulators are rounded once, behind the product.
DType accumulator_of(const ir::Operation* dot) {
  const DType dtype = dot->result()->type().dtype();
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
}

bool is_widened(const ir::Operation* dot) {
  return accumulator_of(dot) != dot->result()->type().dtype();
}

// Extents counted from the last axis: 1 is the columns, 2 the rows, 3 the batch.
int extent(const ir::Value* value, int from_last) {
  const int axis = value->type().rank() - from_last;
  return axis < 0 ? 1 : static_cast<int>(value->type().extent(axis));
}

bool starts_at_zero(const ir::Operation* dot) {
  return ir::constant_bits(dot->operand(2)) == uint64_t{0};
}

GemmSpec spec_of(const ir::Operation* dot) {
  const ir::Value *a = dot->operand(0), *b = dot->operand(1);
  return {.a = a->type().dtype(),
          .b = b->type().dtype(),
          .accumulator = accumulator_of(dot),
          .rows = extent(a, 2),
          .columns = extent(b, 1),
          .depth = extent(a, 1),
          .depth_multiple = extent(a, 1),
          .start = starts_at_zero(dot) ? GemmStart::kZero : GemmStart::kTile};
}

class DotEmitter {
 public:
  DotEmitter(KernelState& kernel, const ir::Operation* dot)
      : kernel_(kernel),
        builder_(kernel.builder()),
        dot_(dot),
        host_(kernel.emission.host),
        spec_(spec_of(dot)) {}

  void emit() {
    const int64_t tile_bytes = (gemm_tile_bytes(host_, spec_) + 63) / 64 * 64;
    const loop::Buffer& result = buffer_of(dot_->result());
    const int64_t batch_bytes =
        result.strides.size() == 3 ? result.strides[0] * bytes_of(dot_->result()) : 0;
    const int64_t batches = extent(dot_->result(), 3);
    emit_loop(builder_, {constant(0), constant(batches)}, [&](Value* batch) {
      Value* tile = is_widened(dot_) ? kernel_.dot_scratch
                                     : moved(address_of(dot_->result()), batch, batch_bytes);
      if (spec_.start == GemmStart::kTile) copy_accumulator(tile, batch);
      Value* scratch = kernel_.dot_scratch;
      if (is_widened(dot_)) scratch = at_bytes(scratch, constant(tile_bytes));
      multiply(tile, scratch, batch);
      if (is_widened(dot_)) narrow_result(tile, batch);
    });
  }

 private:
  llvm::ConstantInt* constant(int64_t value) {
    return builder_.getInt64(static_cast<uint64_t>(value));
  }
  const loop::Buffer& buffer_of(const ir::Value* value) {
    return kernel_.plan.buffers[kernel_.plan.buffer(value)];
  }
  int64_t bytes_of(const ir::Value* value) { return element_bytes(value->type().element()); }
  Value* address_of(const ir::Value* value) {
    return kernel_.buffer_address(kernel_.plan.buffer(value));
  }
  Value* at_bytes(Value* pointer, Value* bytes) {
    return builder_.CreateGEP(builder_.getInt8Ty(), pointer, bytes);
  }
  Value* moved(Value* pointer, Value* turns, int64_t bytes) {
    return at_bytes(pointer, builder_.CreateMul(turns, constant(bytes)));
  }
  Value* batch_address(const ir::Value* value, Value* batch) {
    const loop::Buffer& buffer = buffer_of(value);
    const int64_t bytes = buffer.strides.size() == 3 ? buffer.strides[0] * bytes_of(value) : 0;
    return moved(address_of(value), batch, bytes);
  }
  int64_t row_bytes(const ir::Value* value) {
    const auto& strides = buffer_of(value).strides;
    return strides[strides.size() - 2] * bytes_of(value);
  }

  void multiply(Value* tile, Value* scratch, Value* batch) {
    const ir::Value *a = dot_->operand(0), *b = dot_->operand(1);
    emit_gemm(builder_, host_, spec_,
              {.a = batch_address(a, batch),
               .a_row_stride = constant(row_bytes(a)),
               .a_depth_stride = constant(bytes_of(a)),
               .b = batch_address(b, batch),
               .b_depth_stride = constant(row_bytes(b)),
               .b_column_stride = constant(bytes_of(b)),
               .rows = constant(spec_.rows),
               .columns = constant(spec_.columns),
               .depth = constant(spec_.depth),
               .c = tile,
               .scratch = scratch});
  }

  // Element by element of both tiles, in vectors where the columns allow.
  template <typename Body>
  void for_each_vector(const Body& body) {
    const int64_t lanes = std::min<int64_t>(host_.lanes(4), spec_.columns);
    emit_loop(builder_, {constant(0), constant(spec_.rows)}, [&](Value* row) {
      emit_loop(builder_, {constant(0), constant(spec_.columns), lanes},
                [&](Value* column) { body(row, column, static_cast<unsigned>(lanes)); });
    });
  }

  Value* element_address(Value* base, int64_t row_bytes, int64_t bytes, Value* row, Value* column) {
    return at_bytes(moved(base, row, row_bytes), builder_.CreateMul(column, constant(bytes)));
  }

  Value* load_vector(Value* pointer, const ir::Value* value, unsigned lanes) {
    const ir::Type element = value->type().element();
    auto* type = llvm::FixedVectorType::get(memory_type(kernel_.context(), element), lanes);
    Value* loaded = builder_.CreateAlignedLoad(
        type, pointer, llvm::Align(static_cast<uint64_t>(element_bytes(element))));
    return from_memory(kernel_.emission, loaded, element.dtype());
  }

  void copy_accumulator(Value* tile, Value* batch) {
    const ir::Value* accumulator = dot_->operand(2);
    if (kernel_.plan.buffer(accumulator) == kernel_.plan.buffer(dot_->result())) return;
    Value* from = batch_address(accumulator, batch);
    const int64_t to_stride = gemm_row_stride(host_, spec_);
    for_each_vector([&](Value* row, Value* column, unsigned lanes) {
      Value* value = load_vector(
          element_address(from, row_bytes(accumulator), bytes_of(accumulator), row, column),
          accumulator, lanes);
      const int64_t bytes = byte_size(spec_.accumulator);
      builder_.CreateAlignedStore(value, element_address(tile, to_stride, bytes, row, column),
                                  llvm::Align(static_cast<uint64_t>(bytes)));
    });
  }

  void narrow_result(Value* tile, Value* batch) {
    const ir::Value* result = dot_->result();
    const DType dtype = result->type().dtype();
    Value* to = batch_address(result, batch);
    const int64_t from_stride = gemm_row_stride(host_, spec_);
    for_each_vector([&](Value* row, Value* column, unsigned lanes) {
      auto* type = llvm::FixedVectorType::get(builder_.getFloatTy(), lanes);
      Value* value = builder_.CreateAlignedLoad(
          type, element_address(tile, from_stride, 4, row, column), llvm::Align(4));
      value = to_memory(kernel_.emission, round_to_dtype(kernel_.emission, value, dtype), dtype);
      builder_.CreateAlignedStore(
          value, element_address(to, row_bytes(result), bytes_of(result), row, column),
          llvm::Align(static_cast<uint64_t>(bytes_of(result))));
    });
  }

  KernelState& kernel_;
  llvm::IRBuilder<>& builder_;
  const ir::Operation* dot_;
  const HostTarget& host_;
  GemmSpec spec_;
};

}  // namespace

void set_dot_layout(const HostTarget& host, const ir::Operation* dot, loop::Buffer& buffer) {
  if (is_widened(dot)) return;
  const GemmSpec spec = spec_of(dot);
  const int64_t bytes = byte_size(spec.accumulator);
  const int64_t row = gemm_row_stride(host, spec) / bytes;
  const int64_t tile = (gemm_tile_bytes(host, spec) + 63) / 64 * 64;
  buffer.strides = {row, 1};
  if (buffer.type.rank() == 3) buffer.strides.insert(buffer.strides.begin(), tile / bytes);
  buffer.bytes = tile * extent(dot->result(), 3);
}

int64_t dot_scratch_bytes(const HostTarget& host, const ir::Operation* dot) {
  const GemmSpec spec = spec_of(dot);
  const int64_t tile = is_widened(dot) ? (gemm_tile_bytes(host, spec) + 63) / 64 * 64 : 0;
  return tile + gemm_scratch_bytes(host, spec);
}

void emit_dot(KernelState& kernel, const ir::Operation* dot) { DotEmitter(kernel, dot).emit(); }

}  // namespace enceladus::cpu

#include "codegen/cpu/dot_emitter.h"

#include "codegen/cpu/casts.h"
#include "codegen/cpu/dot_loop_emitter.h"
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

int64_t tile_bytes(const HostTarget& host, const GemmSpec& spec) {
  return (gemm_tile_bytes(host, spec) + 63) / 64 * 64;
}

// The scratch of one product: the tile of wide accumulators where the result is narrower, then the
// product's own.
class DotEmitter {
 public:
  // `start`: the tile that is added to, `result`: the sum; both lie in scratch.
  struct Tiles {
    const ir::Value* start;
    const ir::Value* result;
  };

  DotEmitter(KernelState& kernel, const GemmSpec& spec, Tiles tiles, Value* scratch)
      : kernel_(kernel),
        builder_(kernel.builder()),
        host_(kernel.emission.host),
        spec_(spec),
        tiles_(tiles),
        is_widened_(tiles.result->type().dtype() != spec.accumulator),
        scratch_(scratch) {}

  // Calls `multiply(tile, scratch)` between bringing the accumulators to where a product wants them
  // and bringing its result to where the kernel wants it.
  template <typename Multiply>
  void emit(Value* batch, const Multiply& multiply) {
    Value* tile = is_widened_ ? scratch_ : batch_address(tiles_.result, batch);
    if (spec_.start == GemmStart::kTile) copy_start(tile, batch);
    const int64_t used = is_widened_ ? tile_bytes(host_, spec_) : 0;
    multiply(tile, at_bytes(scratch_, constant(used)));
    if (is_widened_) narrow_result(tile, batch);
  }

  void multiply_tiles(const ir::Operation* dot, Value* tile, Value* scratch, Value* batch) {
    const ir::Value* a = loop::dot_tile(dot->operand(0)).tile;
    const ir::Value* b = loop::dot_tile(dot->operand(1)).tile;
    Value *a_rows = constant(row_bytes(a)), *a_elements = constant(bytes_of(a));
    Value *b_rows = constant(row_bytes(b)), *b_elements = constant(bytes_of(b));
    if (spec_.a_order == OperandOrder::kAcross) std::swap(a_rows, a_elements);
    if (spec_.b_order == OperandOrder::kDepth) std::swap(b_rows, b_elements);
    emit_gemm(builder_, host_, spec_,
              {.a = batch_address(a, batch),
               .a_row_stride = a_rows,
               .a_depth_stride = a_elements,
               .b = batch_address(b, batch),
               .b_depth_stride = b_rows,
               .b_column_stride = b_elements,
               .rows = constant(spec_.rows),
               .columns = constant(spec_.columns),
               .depth = constant(spec_.depth),
               .c = tile,
               .scratch = scratch});
  }

 private:
  llvm::ConstantInt* constant(int64_t value) {
    return builder_.getInt64(static_cast<uint64_t>(value));
  }
  const loop::Buffer& buffer_of(const ir::Value* value) {
    return kernel_.plan.buffers[kernel_.plan.buffer(value)];
  }
  int64_t bytes_of(const ir::Value* value) { return element_bytes(value->type().element()); }
  Value* at_bytes(Value* pointer, Value* bytes) {
    return builder_.CreateGEP(builder_.getInt8Ty(), pointer, bytes);
  }
  Value* moved(Value* pointer, Value* turns, int64_t bytes) {
    return at_bytes(pointer, builder_.CreateMul(turns, constant(bytes)));
  }
  Value* batch_address(const ir::Value* value, Value* batch) {
    const loop::Buffer& buffer = buffer_of(value);
    Value* address = kernel_.buffer_address(kernel_.plan.buffer(value));
    if (buffer.strides.size() < 3) return address;
    return moved(address, batch, buffer.strides[0] * bytes_of(value));
  }
  int64_t row_bytes(const ir::Value* value) {
    const auto& strides = buffer_of(value).strides;
    return strides[strides.size() - 2] * bytes_of(value);
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

  void copy_start(Value* tile, Value* batch) {
    const ir::Value* accumulator = tiles_.start;
    const bool is_there = kernel_.plan.buffer(accumulator) == kernel_.plan.buffer(tiles_.result);
    if (is_there && !is_widened_) return;
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
    const ir::Value* result = tiles_.result;
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
  const HostTarget& host_;
  const GemmSpec& spec_;
  Tiles tiles_;
  bool is_widened_;
  Value* scratch_;
};

}  // namespace

GemmSpec dot_spec(const ir::Operation* dot) {
  const ir::Value *a = dot->operand(0), *b = dot->operand(1);
  const bool a_is_transposed = loop::dot_tile(a).is_transposed;
  const bool b_is_transposed = loop::dot_tile(b).is_transposed;
  return {.a = a->type().dtype(),
          .b = b->type().dtype(),
          .accumulator = accumulator_of(dot),
          .rows = extent(a, 2),
          .columns = extent(b, 1),
          .depth = extent(a, 1),
          .depth_multiple = extent(a, 1),
          .a_order = a_is_transposed ? OperandOrder::kAcross : OperandOrder::kDepth,
          .b_order = b_is_transposed ? OperandOrder::kDepth : OperandOrder::kAcross,
          .start = starts_at_zero(dot) ? GemmStart::kZero : GemmStart::kTile};
}

void set_dot_layout(const HostTarget& host, const ir::Operation* dot, loop::Buffer& buffer) {
  if (is_widened(dot)) return;
  const GemmSpec spec = dot_spec(dot);
  const int64_t bytes = byte_size(spec.accumulator);
  const int64_t row = gemm_row_stride(host, spec) / bytes;
  const int64_t tile = tile_bytes(host, spec);
  buffer.strides = {row, 1};
  if (buffer.type.rank() == 3) buffer.strides.insert(buffer.strides.begin(), tile / bytes);
  buffer.bytes = tile * extent(dot->result(), 3);
}

int64_t dot_loop_scratch_bytes(const HostTarget& host, const ir::Operation* dot,
                               const GemmSpec& spec) {
  return (is_widened(dot) ? tile_bytes(host, spec) : 0) + gemm_scratch_bytes(host, spec);
}

int64_t dot_scratch_bytes(const HostTarget& host, const ir::Operation* dot) {
  return dot_loop_scratch_bytes(host, dot, dot_spec(dot));
}

void emit_dot(KernelState& kernel, const ir::Operation* dot) {
  const GemmSpec spec = dot_spec(dot);
  DotEmitter emitter(kernel, spec, {.start = dot->operand(2), .result = dot->result()},
                     kernel.dot_scratch);
  llvm::IRBuilder<>& builder = kernel.builder();
  Value* batches = builder.getInt64(static_cast<uint64_t>(extent(dot->result(), 3)));
  emit_loop(builder, {builder.getInt64(0), batches}, [&](Value* batch) {
    emitter.emit(batch, [&](Value* tile, Value* scratch) {
      emitter.multiply_tiles(dot, tile, scratch, batch);
    });
  });
}

void emit_dot_loop(KernelState& kernel, int index) {
  const loop::DotLoop& dot_loop = kernel.plan.dot_loops[static_cast<size_t>(index)];
  const GemmSpec& spec = kernel.dot_loops.specs[static_cast<size_t>(index)];
  llvm::IRBuilder<>& builder = kernel.builder();
  Value* place = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), kernel.dot_scratch,
      static_cast<uint64_t>(kernel.dot_loops.offsets[static_cast<size_t>(index)]));
  // What the loop starts from was written to its result's place.
  const ir::Value* result = dot_loop.loop->result(dot_loop.result);
  DotEmitter emitter(kernel, spec, {.start = result, .result = result}, place);
  emitter.emit(nullptr, [&](Value* tile, Value* scratch) {
    Value* generation = builder.CreateLoad(builder.getInt64Ty(), kernel.header);
    emit_dot_loop(builder, kernel.emission.host, spec, dot_loop,
                  {.tile = tile, .scratch = scratch, .generation = generation},
                  [&](const ir::Value* value) { return kernel.scalar(value); });
  });
}

}  // namespace enceladus::cpu

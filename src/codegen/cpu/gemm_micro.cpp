#include "codegen/cpu/gemm_micro.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/cpu/ir_loops.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

llvm::Type* lane_type(llvm::LLVMContext& context, const GemmFormat& format) {
  if (format.accumulator == DType::kFloat64) return llvm::Type::getDoubleTy(context);
  if (format.accumulator == DType::kFloat32) return llvm::Type::getFloatTy(context);
  ENC_CHECK(format.accumulator == DType::kInt32);
  return llvm::Type::getInt32Ty(context);
}

// Of the versions of an instruction for 16-, 32- and 64-byte vectors, the one for `bytes`.
llvm::Intrinsic::ID by_width(int bytes, llvm::Intrinsic::ID narrow, llvm::Intrinsic::ID middle,
                             llvm::Intrinsic::ID wide) {
  return bytes == 64 ? wide : bytes == 32 ? middle : narrow;
}

// Calls an intrinsic of three vectors of one width, whatever element types this LLVM gives it.
llvm::Value* call_with_casts(llvm::IRBuilderBase& builder, llvm::Intrinsic::ID id,
                             llvm::ArrayRef<llvm::Value*> operands, llvm::Type* result) {
  llvm::Function* function =
      llvm::Intrinsic::getDeclaration(builder.GetInsertBlock()->getModule(), id);
  llvm::SmallVector<llvm::Value*, 3> cast;
  for (auto [operand, parameter] : llvm::zip(operands, function->args()))
    cast.push_back(builder.CreateBitCast(operand, parameter.getType()));
  return builder.CreateBitCast(builder.CreateCall(function, cast), result);
}

llvm::Value* multiply_pairs(llvm::IRBuilderBase& builder, const GemmFormat& format, llvm::Value* a,
                            llvm::Value* b, llvm::Value* sum) {
  using namespace llvm;
  const Intrinsic::ID id =
      by_width(format.lanes * 4, Intrinsic::x86_sse2_pmadd_wd, Intrinsic::x86_avx2_pmadd_wd,
               Intrinsic::x86_avx512_pmaddw_d_512);
  return builder.CreateAdd(sum, call_with_casts(builder, id, {a, b}, sum->getType()));
}

struct Block {  // the values a micro-kernel works on, while it is emitted
  llvm::IRBuilderBase& builder;
  const MicroKernel& kernel;
  llvm::FixedVectorType* vector;
  llvm::SmallVector<llvm::Value*, 8> a_rows, c_rows;

  int accumulators() const { return kernel.rows * kernel.vectors; }
  int vector_bytes() const { return kernel.format.lanes * kernel.format.lane_bytes(); }
  int panel_bytes() const { return kernel.vectors * vector_bytes(); }
  llvm::Align element_align() const { return llvm::Align(byte_size(kernel.format.a_operand)); }

  llvm::Value* at(llvm::Value* pointer, int64_t bytes) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, bytes);
  }
  llvm::Value* at(llvm::Value* pointer, llvm::Value* bytes) {
    return builder.CreateInBoundsGEP(builder.getInt8Ty(), pointer, bytes);
  }
};

// Adds one group of K: `a_offset` bytes into each row, `b` at its row of the panel.
Values step(Block& block, llvm::Value* a_offset, llvm::Value* b,
            llvm::ArrayRef<llvm::Value*> sums) {
  llvm::IRBuilderBase& builder = block.builder;
  const MicroKernel& kernel = block.kernel;
  Values b_vectors, next;
  for (int j = 0; j < kernel.vectors; ++j)
    b_vectors.push_back(builder.CreateAlignedLoad(
        block.vector, block.at(b, j * block.vector_bytes()), llvm::Align(block.vector_bytes())));
  for (int i = 0; i < kernel.rows; ++i) {
    llvm::Value* lane = builder.CreateAlignedLoad(
        block.vector->getElementType(), block.at(block.a_rows[i], a_offset), block.element_align());
    llvm::Value* broadcast = builder.CreateVectorSplat(kernel.format.lanes, lane);
    for (int j = 0; j < kernel.vectors; ++j)
      next.push_back(emit_multiply_add(builder, kernel.format, broadcast, b_vectors[j],
                                       sums[i * kernel.vectors + j]));
  }
  return next;
}

Values start(Block& block, llvm::Value* row_starts, llvm::Value* accumulate) {
  llvm::IRBuilderBase& builder = block.builder;
  const int vectors = block.kernel.vectors;
  Values begin(block.accumulators(), llvm::Constant::getNullValue(block.vector));
  const LoopBounds once{builder.getInt64(0), builder.CreateZExt(accumulate, builder.getInt64Ty())};
  Values sums = emit_carrying_loop(builder, once, begin, [&](llvm::Value*, auto) {
    Values loaded;
    for (int k = 0; k < block.accumulators(); ++k)
      loaded.push_back(builder.CreateAlignedLoad(
          block.vector, block.at(block.c_rows[k / vectors], (k % vectors) * block.vector_bytes()),
          llvm::Align(block.kernel.format.lane_bytes())));
    return loaded;
  });
  if (row_starts == nullptr) return sums;
  for (int k = 0; k < block.accumulators(); ++k) {
    llvm::Value* first =
        builder.CreateLoad(builder.getInt32Ty(), block.at(row_starts, 4 * (k / vectors)));
    sums[k] =
        builder.CreateAdd(sums[k], builder.CreateVectorSplat(block.kernel.format.lanes, first));
  }
  return sums;
}

// Runs K: some groups a turn, then the rest one by one.
Values run_depth(Block& block, const MicroArguments& arguments, Values sums) {
  llvm::IRBuilderBase& builder = block.builder;
  const int unroll = block.kernel.format.unroll;
  llvm::Value* whole = builder.CreateAnd(arguments.groups, builder.getInt64(-unroll));
  Values carried = sums;
  carried.push_back(builder.getInt64(0));  // offset into A's rows
  carried.push_back(arguments.b);
  auto turn = [&](int steps, llvm::ArrayRef<llvm::Value*> values) {
    Values next(values.drop_back(2));
    llvm::Value* a_offset = values[values.size() - 2];
    for (int u = 0; u < steps; ++u) {
      next = step(block, a_offset, block.at(values.back(), u * block.panel_bytes()), next);
      a_offset = builder.CreateAdd(a_offset, arguments.a_depth_stride);
    }
    next.push_back(a_offset);
    next.push_back(block.at(values.back(), steps * block.panel_bytes()));
    return next;
  };
  carried = emit_carrying_loop(builder, {builder.getInt64(0), whole, unroll}, carried,
                               [&](llvm::Value*, auto values) { return turn(unroll, values); });
  if (unroll > 1)
    carried = emit_carrying_loop(builder, {whole, arguments.groups}, carried,
                                 [&](llvm::Value*, auto values) { return turn(1, values); });
  carried.pop_back_n(2);
  return carried;
}

// Row pointers that stop at the last row.
llvm::SmallVector<llvm::Value*, 8> clamped_rows(Block& block, llvm::Value* base,
                                                llvm::Value* stride, llvm::Value* last_row) {
  llvm::IRBuilderBase& builder = block.builder;
  llvm::SmallVector<llvm::Value*, 8> rows{base};
  for (int i = 1; i < block.kernel.rows; ++i) {
    llvm::Value* exists = builder.CreateICmpSLE(builder.getInt64(i), last_row);
    llvm::Value* offset = builder.CreateSelect(exists, stride, builder.getInt64(0));
    rows.push_back(block.at(rows.back(), offset));
  }
  return rows;
}

void emit_body(Block& block, const MicroArguments& arguments) {
  llvm::IRBuilderBase& builder = block.builder;
  block.a_rows = clamped_rows(block, arguments.a, arguments.a_row_stride, arguments.last_row);
  block.c_rows = clamped_rows(block, arguments.c, arguments.c_row_stride, arguments.last_row);
  Values sums = start(block, arguments.row_starts, arguments.accumulate);
  sums = run_depth(block, arguments, sums);
  const int vectors = block.kernel.vectors;
  for (int k = 0; k < block.accumulators(); ++k)
    builder.CreateAlignedStore(
        sums[k], block.at(block.c_rows[k / vectors], (k % vectors) * block.vector_bytes()),
        llvm::Align(block.kernel.format.lane_bytes()));
  builder.CreateRetVoid();
}

llvm::Function* micro_function(llvm::Module& module, const MicroKernel& kernel) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* word = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  const InternalFunction made =
      internal_function(module, kernel.name(),
                        {word, pointer, pointer, pointer, word, word, word, word, pointer,
                         llvm::Type::getInt1Ty(context)});
  if (!made.is_new) return made.function;
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", made.function));
  llvm::Function* f = made.function;
  llvm::Value* depth_stride = f->getArg(5);
  if (kernel.a_step == DepthStep::kAdjacent)
    depth_stride = builder.getInt64(kernel.format.lane_bytes());
  const bool fixes_signs = kernel.format.sign_fix != SignFix::kNone;
  const MicroArguments arguments{.groups = f->getArg(0),
                                 .a = f->getArg(1),
                                 .a_row_stride = f->getArg(4),
                                 .a_depth_stride = depth_stride,
                                 .last_row = f->getArg(6),
                                 .b = f->getArg(2),
                                 .c = f->getArg(3),
                                 .c_row_stride = f->getArg(7),
                                 .row_starts = fixes_signs ? f->getArg(8) : nullptr,
                                 .accumulate = f->getArg(9)};
  Block block{builder, kernel, accumulator_vector(context, kernel.format), {}, {}};
  emit_body(block, arguments);
  return made.function;
}

}  // namespace

std::string MicroKernel::name() const {
  return "dot_block_" + format.name() + "_" + std::to_string(rows) + "x" + std::to_string(vectors) +
         (a_step == DepthStep::kStrided ? "_columns" : "");
}

llvm::FixedVectorType* accumulator_vector(llvm::LLVMContext& context, const GemmFormat& format) {
  return llvm::FixedVectorType::get(lane_type(context, format), format.lanes);
}

llvm::Value* emit_multiply_add(llvm::IRBuilderBase& builder, const GemmFormat& format,
                               llvm::Value* a, llvm::Value* b, llvm::Value* sum) {
  using namespace llvm;
  const int bytes = format.lanes * format.lane_bytes();
  switch (format.product) {
    case Product::kFloat:
      if (format.is_fused)
        return builder.CreateIntrinsic(Intrinsic::fma, {sum->getType()}, {a, b, sum});
      return builder.CreateFAdd(sum, builder.CreateFMul(a, b));
    case Product::kInteger:
      return builder.CreateAdd(sum, builder.CreateMul(a, b));
    case Product::kInt16Pairs:
      return multiply_pairs(builder, format, a, b, sum);
    case Product::kBFloat16Pairs:
      return call_with_casts(
          builder,
          by_width(bytes, Intrinsic::x86_avx512bf16_dpbf16ps_128,
                   Intrinsic::x86_avx512bf16_dpbf16ps_256, Intrinsic::x86_avx512bf16_dpbf16ps_512),
          {sum, a, b}, sum->getType());
    case Product::kInt8Quads: {
      const Intrinsic::ID id =
          by_width(bytes, Intrinsic::x86_avx512_vpdpbusd_128, Intrinsic::x86_avx512_vpdpbusd_256,
                   Intrinsic::x86_avx512_vpdpbusd_512);
      if (!format.a_is_unsigned) std::swap(a, b);
      return call_with_casts(builder, id, {sum, a, b}, sum->getType());
    }
    case Product::kBFloat16Amx:
    case Product::kInt8Amx:
      break;
  }
  ENC_CHECK(false, "not a product of vectors");
}

InternalFunction internal_function(llvm::Module& module, const std::string& name,
                                   llvm::ArrayRef<llvm::Type*> parameters) {
  if (llvm::Function* present = module.getFunction(name)) return {present, false};
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters,
                                       /*isVarArg=*/false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::NoInline);
  // Some processors prefer narrower vectors than they have; these blocks want the widest.
  function->addFnAttr("prefer-vector-width", "512");
  for (llvm::Argument& argument : function->args())
    if (argument.getType()->isPointerTy()) argument.addAttr(llvm::Attribute::NoUndef);
  return {function, true};
}

void emit_micro_call(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                     const MicroArguments& arguments) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::Value* row_starts = arguments.row_starts;
  if (row_starts == nullptr) row_starts = llvm::ConstantPointerNull::get(builder.getPtrTy());
  builder.CreateCall(micro_function(module, kernel),
                     {arguments.groups, arguments.a, arguments.b, arguments.c,
                      arguments.a_row_stride, arguments.a_depth_stride, arguments.last_row,
                      arguments.c_row_stride, row_starts, arguments.accumulate});
}

}  // namespace enceladus::cpu

#include "codegen/cpu/gemm_row_sums.h"

#include "codegen/cpu/ir_loops.h"

namespace enceladus::cpu {
namespace {

llvm::Value* at(llvm::IRBuilderBase& builder, llvm::Value* pointer, llvm::Value* bytes) {
  return builder.CreateInBoundsGEP(builder.getInt8Ty(), pointer, bytes);
}

// sum + the bytes of each lane of A.
llvm::Value* add_bytes(llvm::IRBuilderBase& builder, const GemmFormat& format, llvm::Value* a,
                       llvm::Value* sum) {
  llvm::Value* ones = llvm::ConstantInt::get(sum->getType(), 0x01010101);
  return emit_multiply_add(builder, format, a, ones, sum);
}

llvm::Value* times_128(llvm::IRBuilderBase& builder, const GemmFormat& format, llvm::Value* sum) {
  llvm::Value* product = builder.CreateShl(sum, 7);
  return format.sign_fix == SignFix::kSubtractRowSums ? builder.CreateNeg(product) : product;
}

// Rows of adjacent groups: vectors along K.
void sum_along_depth(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                     const MicroArguments& arguments) {
  const GemmFormat& format = kernel.format;
  llvm::FixedVectorType* vector = accumulator_vector(builder.getContext(), format);
  llvm::Value* zero = llvm::Constant::getNullValue(vector);
  llvm::Value* whole = builder.CreateAnd(arguments.groups, builder.getInt64(-format.lanes));
  emit_loop(builder, {builder.getInt64(0), builder.getInt64(kernel.rows)}, [&](llvm::Value* row) {
    llvm::Value* exists = builder.CreateICmpSLT(row, arguments.last_row);
    llvm::Value* read = builder.CreateSelect(exists, row, arguments.last_row);
    llvm::Value* a = at(builder, arguments.a, builder.CreateMul(read, arguments.a_row_stride));
    auto add = [&](llvm::Value* begin, llvm::Value* end, int lanes, llvm::Value* sum) {
      return emit_carrying_loop(
          builder, {begin, end, lanes}, {sum}, [&](llvm::Value* group, auto carried) {
            llvm::Type* type = lanes == 1 ? vector->getElementType() : vector;
            llvm::Value* bytes = builder.CreateAlignedLoad(
                type, at(builder, a, builder.CreateShl(group, 2)), llvm::Align(1));
            if (lanes == 1) bytes = builder.CreateInsertElement(zero, bytes, uint64_t{0});
            return Values{add_bytes(builder, format, bytes, carried[0])};
          })[0];
    };
    llvm::Value* sum = add(builder.getInt64(0), whole, format.lanes, zero);
    sum = add(whole, arguments.groups, 1, sum);
    builder.CreateStore(times_128(builder, format, builder.CreateAddReduce(sum)),
                        at(builder, arguments.row_starts, builder.CreateShl(row, 2)));
  });
}

// A packed as [K groups][rows]: vectors along the rows, all the block's rows in one.
void sum_along_rows(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                    const MicroArguments& arguments) {
  const GemmFormat& format = kernel.format;
  llvm::FixedVectorType* vector = accumulator_vector(builder.getContext(), format);
  llvm::Value* sum = emit_carrying_loop(
      builder, {builder.getInt64(0), arguments.groups}, {llvm::Constant::getNullValue(vector)},
      [&](llvm::Value* group, auto carried) {
        llvm::Value* bytes = builder.CreateAlignedLoad(
            vector, at(builder, arguments.a, builder.CreateMul(group, arguments.a_depth_stride)),
            llvm::Align(1));
        return Values{add_bytes(builder, format, bytes, carried[0])};
      })[0];
  builder.CreateStore(times_128(builder, format, sum), arguments.row_starts);
  // Rows past the last one repeat it, as the micro-kernel does.
  auto slot = [&](llvm::Value* row) {
    return at(builder, arguments.row_starts, builder.CreateShl(row, 2));
  };
  llvm::Value* last = builder.CreateLoad(builder.getInt32Ty(), slot(arguments.last_row));
  emit_loop(builder, {arguments.last_row, builder.getInt64(kernel.rows)},
            [&](llvm::Value* row) { builder.CreateStore(last, slot(row)); });
}

}  // namespace

void emit_row_sums(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                   const MicroArguments& arguments) {
  if (kernel.a_step == DepthStep::kAdjacent)
    sum_along_depth(builder, kernel, arguments);
  else
    sum_along_rows(builder, kernel, arguments);
}

}  // namespace enceladus::cpu

#include "gemm_call.h"

namespace enceladus::cpu {

EmitBody gemm_body(const HostTarget& target, const GemmSpec& spec) {
  return [target, spec](llvm::IRBuilder<>& builder, llvm::Value* call) {
    int slot = 0;
    auto next = [&](llvm::Type* type) {
      return builder.CreateLoad(type,
                                builder.CreateConstGEP1_64(builder.getInt64Ty(), call, slot++));
    };
    auto word = [&] { return next(builder.getInt64Ty()); };
    auto pointer = [&] { return next(builder.getPtrTy()); };
    GemmArguments arguments{};  // in the order of the struct
    arguments.a = pointer();
    arguments.a_row_stride = word();
    arguments.a_depth_stride = word();
    arguments.b = pointer();
    arguments.b_depth_stride = word();
    arguments.b_column_stride = word();
    arguments.rows = word();
    arguments.columns = word();
    arguments.depth = word();
    arguments.a_depth = word();
    arguments.b_depth = word();
    arguments.c = pointer();
    arguments.scratch = pointer();
    arguments.generation = word();
    emit_gemm(builder, target, spec, arguments);
  };
}

}  // namespace enceladus::cpu

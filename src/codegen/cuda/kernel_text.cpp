#include "codegen/cuda/kernel_text.h"

#include "codegen/cuda/dialect.h"
#include "codegen/cuda/emitter.h"

namespace enceladus::cuda {
namespace {

class KernelWriter {
 public:
  explicit KernelWriter(const ir::Function& function)
      : function_(function),
        names_(reserved_words()),
        entry_(names_.unique(function.name())),
        emitter_(function, names_, dialect_, prelude_) {}

  KernelText run(int64_t shared_bytes) {
    use_types();
    name_parameters();
    codegen::TextWriter& out = emitter_.out();
    out.open("");
    if (shared_bytes > 0) out.line("extern __shared__ __align__(1024) uchar shared[];");
    out.line("const uint lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;");
    emitter_.run();
    out.close();
    return {entry_, prelude_.text() + signature() + emitter_.text()};
  }

 private:
  void use_type(const ir::Type& type) {
    if (type.is_none()) return;
    if (type.dtype() == DType::kFloat16) prelude_.use("half");
    if (type.dtype() == DType::kBFloat16) prelude_.use("bfloat");
  }

  void use_types() {
    for (const ir::ParameterInfo& parameter : function_.parameters()) use_type(parameter.type);
    ir::walk(function_.body(), [&](const ir::Operation* op) {
      for (const ir::Value* result : op->results()) use_type(result->type());
    });
  }

  void name_parameters() {
    // Where arrays do not overlap, what is only read may be kept in the read-only cache.
    std::string_view alone = function_.options().arrays_disjoint ? " __restrict__ " : " ";
    for (const ir::Value* argument : function_.body().arguments()) {
      auto index = static_cast<size_t>(argument->index());
      const ir::Type& type = argument->type();
      std::string name = names_.unique(function_.parameters()[index].name);
      emitter_.set_name(argument, name);
      bool is_pointer = type.is_pointer();
      arguments_.push_back(
          is_pointer ? dialect_.pointer_type(type.dtype(), emitter_.is_const_pointer(argument)) +
                           std::string(alone) + name
                     : "const " + std::string(dialect_.type_name(type.dtype())) + " " + name);
    }
  }

  std::string signature() const {
    std::string threads = std::to_string(32 * function_.options().num_warps);
    std::string text =
        "extern \"C\" __global__ void __launch_bounds__(" + threads + ")\n" + entry_ + "(";
    for (size_t i = 0; i < arguments_.size(); ++i)
      text += (i ? ",\n    " : "\n    ") + arguments_[i];
    return text + ")\n";
  }

  const ir::Function& function_;
  codegen::Names names_;
  Prelude prelude_;
  CudaDialect dialect_{prelude_};
  std::string entry_;
  Emitter emitter_;
  std::vector<std::string> arguments_;
};

}  // namespace

KernelText kernel_text(const ir::Function& function, int64_t shared_bytes) {
  return KernelWriter(function).run(shared_bytes);
}

}  // namespace enceladus::cuda

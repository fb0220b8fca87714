#include "codegen/metal/kernel_text.h"

#include "codegen/metal/dialect.h"
#include "codegen/metal/emitter.h"

namespace enceladus::metal {
namespace {

// MSL 3.1, for bfloat; os_log came with 3.2, tensors with 4.0.
int language_version(const Prelude& prelude) {
  if (prelude.matmul2d()) return 40;
  return prelude.logs() ? 32 : 31;
}

class KernelWriter {
 public:
  explicit KernelWriter(const ir::Function& function)
      : function_(function),
        names_(reserved_words()),
        entry_(names_.unique(function.name())),
        emitter_(function, names_, dialect_, prelude_) {}

  KernelText run(int64_t shared_bytes) {
    name_parameters();
    codegen::TextWriter& out = emitter_.out();
    out.open("");
    if (shared_bytes > 0)
      out.line("alignas(16) threadgroup uchar shared[" + std::to_string(shared_bytes) + "];");
    for (const std::string& line : unpacked_) out.line(line);
    emitter_.run();
    out.close();
    return {.entry = entry_,
            .text = head() + prelude_.text() + scalars_structure() + signature() + emitter_.text(),
            .language_version = language_version(prelude_),
            .logs = prelude_.logs(),
            .messages = emitter_.messages()};
  }

 private:
  void name_parameters() {
    for (const ir::Value* argument : function_.body().arguments()) {
      auto index = static_cast<size_t>(argument->index());
      const ir::Type& type = argument->type();
      std::string name = names_.unique(function_.parameters()[index].name);
      emitter_.set_name(argument, name);
      if (type.is_pointer()) {
        bool is_const = emitter_.is_const_pointer(argument);
        arguments_.push_back(dialect_.pointer_type(type.dtype(), is_const) + " " + name +
                             " [[buffer(" + std::to_string(arguments_.size()) + ")]]");
        continue;
      }
      std::string scalar_type(dialect_.memory_type_name(type.dtype()));
      fields_ += "  " + scalar_type + " " + name + ";\n";
      if (argument->has_users())
        unpacked_.push_back("const " + std::string(dialect_.type_name(type.dtype())) + " " + name +
                            " = scalars." + name + (type.is_bool() ? " != 0;" : ";"));
    }
  }

  std::string head() const {
    std::string text = "#include <metal_stdlib>\n";
    if (prelude_.logs()) text += "#include <metal_logging>\n";
    if (prelude_.matmul2d())
      text +=
          "#include <metal_tensor>\n"
          "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n";
    if (prelude_.uses(Helper::kFragment)) text += "#include <metal_simdgroup_matrix>\n";
    text += "using namespace metal;\n\n";
    if (function_.options().math_mode == ir::MathMode::kPrecise)
      text += "#pragma METAL fp contract(off)\n\n";
    return text;
  }

  std::string scalars_structure() const {
    return fields_.empty() ? "" : "struct Scalars {\n" + fields_ + "};\n\n";
  }

  std::string signature() const {
    std::vector<std::string> arguments = arguments_;
    if (!fields_.empty())
      arguments.push_back("constant Scalars& scalars [[buffer(" +
                          std::to_string(arguments_.size()) + ")]]");
    if (!emitter_.messages().empty())
      arguments.push_back("device atomic_uint* failure [[buffer(" +
                          std::to_string(arguments.size()) + ")]]");
    arguments.push_back("uint3 program [[threadgroup_position_in_grid]]");
    arguments.push_back("uint3 programs [[threadgroups_per_grid]]");
    arguments.push_back("uint lane [[thread_index_in_simdgroup]]");
    arguments.push_back("uint warp [[simdgroup_index_in_threadgroup]]");
    int threads = 32 * function_.options().num_warps;
    std::string text = "[[max_total_threads_per_threadgroup(" + std::to_string(threads) +
                       ")]]\nkernel void " + entry_ + "(";
    for (size_t i = 0; i < arguments.size(); ++i) text += (i ? ",\n    " : "\n    ") + arguments[i];
    return text + ")\n";
  }

  const ir::Function& function_;
  codegen::Names names_;
  Prelude prelude_;
  MetalDialect dialect_{prelude_};
  std::string entry_;
  Emitter emitter_;
  std::vector<std::string> arguments_;
  std::vector<std::string> unpacked_;
  std::string fields_;
};

}  // namespace

KernelText kernel_text(const ir::Function& function, int64_t shared_bytes) {
  return KernelWriter(function).run(shared_bytes);
}

}  // namespace enceladus::metal

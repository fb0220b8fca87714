#include "codegen/cuda/kernel_text.h"

#include "codegen/cuda/dialect.h"
#include "codegen/cuda/emitter.h"
#include "codegen/cuda/tensor_maps.h"

namespace enceladus::cuda {
namespace {

constexpr int kProducerThreads = 128;

class KernelWriter {
 public:
  explicit KernelWriter(const ir::Function& function)
      : function_(function),
        names_(reserved_words()),
        entry_(names_.unique(function.name())),
        emitter_(function, names_, dialect_, prelude_) {
    ir::walk(function.body(), [&](const ir::Operation* op) {
      has_rings_ |= op->is(ir::Opcode::kRing);
      walks_grid_ |= op->is(ir::Opcode::kResident);
    });
  }

  KernelText run(int64_t shared_bytes) {
    use_types();
    name_parameters();
    name_maps_and_grid();
    codegen::TextWriter& out = emitter_.out();
    out.open("");
    if (shared_bytes > 0) out.line("extern __shared__ __align__(1024) uchar shared[];");
    // Told apart by warp, roles and groups must look uniform to the compiler.
    std::string_view warp =
        has_rings_ ? "__shfl_sync(~0u, threadIdx.x >> 5, 0);" : "threadIdx.x >> 5;";
    out.line("const uint lane = threadIdx.x & 31u, warp = " + std::string(warp));
    // Rings do so behind what they prepare.
    if (!has_rings_) out.line(prelude_.use("earlier_kernel") + "();");
    emitter_.run();
    out.close();
    if (!emitter_.messages().empty()) arguments_.push_back("uint* messages");
    std::string body = emitter_.text();
    body.insert(body.find('\n') + 1, emitter_.sum_declarations());
    return {entry_, prelude_.text() + signature() + body, emitter_.messages()};
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
    for (const ir::Value* argument : function_.body().arguments()) {
      auto index = static_cast<size_t>(argument->index());
      const ir::Type& type = argument->type();
      std::string name = names_.unique(function_.parameters()[index].name);
      emitter_.set_name(argument, name);
      bool is_pointer = type.is_pointer();
      // Nobody else writes where arrays do not overlap. Of what is only read this is not said: the
      // assembler moves loads through the read-only cache in front of the wait for the earlier
      // kernel.
      bool is_alone = function_.options().arrays_disjoint && !emitter_.is_const_pointer(argument);
      arguments_.push_back(
          is_pointer ? dialect_.pointer_type(type.dtype(), emitter_.is_const_pointer(argument)) +
                           (is_alone ? " __restrict__ " : " ") + name
                     : "const " + std::string(dialect_.type_name(type.dtype())) + " " + name);
    }
  }

  void name_maps_and_grid() {
    for (const ir::Operation* map : tensor_map_operations(function_)) {
      std::string name = names_.unique("map");
      emitter_.set_name(map->result(), "&" + name);
      arguments_.push_back("const __grid_constant__ TensorMap " + name);
    }
    if (!walks_grid_) return;
    dialect_.walk_grid();
    for (const char* name : {"grid_x", "grid_y", "grid_z"})
      arguments_.push_back("const uint " + std::string(name));
  }

  std::string signature() const {
    std::string threads = std::to_string(kernel_threads(function_)) + (has_rings_ ? ", 1" : "");
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
  bool has_rings_ = false, walks_grid_ = false;
};

}  // namespace

int kernel_threads(const ir::Function& function) {
  bool has_rings = false;
  ir::walk(function.body(),
           [&](const ir::Operation* op) { has_rings |= op->is(ir::Opcode::kRing); });
  return 32 * function.options().num_warps + (has_rings ? kProducerThreads : 0);
}

KernelText kernel_text(const ir::Function& function, int64_t shared_bytes) {
  return KernelWriter(function).run(shared_bytes);
}

}  // namespace enceladus::cuda

#include "codegen/cpu/gemm_pack.h"

#include "codegen/cpu/gemm_convert.h"
#include "codegen/cpu/gemm_micro.h"
#include "codegen/cpu/gemm_shuffle.h"
#include "codegen/cpu/ir_loops.h"

namespace enceladus::cpu {
namespace {

constexpr int kRowsAtATime = 4;

// Emits the body of one packing function.
class Packer {
 public:
  Packer(llvm::IRBuilderBase& builder, const Packing& packing, const PackArguments& arguments)
      : builder_(builder), packing_(packing), arguments_(arguments) {}

  void emit_panels();
  void emit_rows(llvm::Value* target_stride);

 private:
  llvm::Value* constant(int64_t value) { return builder_.getInt64(value); }
  llvm::Value* at(llvm::Value* pointer, llvm::Value* bytes) {
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), pointer, bytes);
  }
  // Where element (depth, across) of `source` lies.
  llvm::Value* element(llvm::Value* source, llvm::Value* depth, llvm::Value* across) {
    return at(at(source, builder_.CreateMul(depth, arguments_.depth_stride)),
              builder_.CreateMul(across, arguments_.across_stride));
  }
  llvm::Value* minimum(llvm::Value* a, llvm::Value* b) {
    return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
  }
  int row_bytes() const { return packing_.width * packing_.lane_bytes(); }
  int vector_bytes() const { return packing_.lanes * packing_.lane_bytes(); }
  llvm::Align row_align() const {  // of the panel's rows, and of whole vectors in them
    return llvm::Align(packing_.width % packing_.lanes == 0 ? vector_bytes()
                                                            : packing_.lane_bytes());
  }
  // Elements of K that one turn of the vector loop takes; zero where there is no such loop.
  int depth_per_turn() const {
    if (packing_.order == OperandOrder::kStrided) return 0;
    return packing_.order == OperandOrder::kAcross ? packing_.group
                                                   : packing_.group * packing_.lanes;
  }

  struct Panel {
    llvm::Value* first = nullptr;  // column of B or row of A
    llvm::Value* source = nullptr;
    llvm::Value* target = nullptr;
    llvm::Value* is_whole = nullptr;  // i1: whole vectors may be read
  };

  llvm::Value* groups(llvm::Value* depth);
  void for_each_panel(llvm::function_ref<void(const Panel&)> body);
  void pack_vectors(llvm::Value* begin, llvm::Value* end);
  void pack_across(llvm::Value* source, llvm::Value* depth, llvm::Value* target);
  void pack_depth(llvm::Value* source, llvm::Value* depth, llvm::Value* target);
  void pack_rest(llvm::Value* source, llvm::Value* from, llvm::Value* extent, llvm::Value* target);

  llvm::IRBuilderBase& builder_;
  const Packing& packing_;
  const PackArguments& arguments_;
};

llvm::Value* Packer::groups(llvm::Value* depth) {
  if (packing_.group == 1) return depth;
  return builder_.CreateUDiv(builder_.CreateAdd(depth, constant(packing_.group - 1)),
                             constant(packing_.group));
}

void Packer::for_each_panel(llvm::function_ref<void(const Panel&)> body) {
  llvm::Value* panel_bytes =
      builder_.CreateAdd(builder_.CreateMul(groups(arguments_.depth), constant(row_bytes())),
                         constant(packing_.panel_gap_bytes()));
  emit_carrying_loop(
      builder_, {constant(0), arguments_.extent, packing_.width}, {arguments_.target},
      [&](llvm::Value* first, llvm::ArrayRef<llvm::Value*> target) {
        Panel panel{.first = first, .target = target[0]};
        panel.source = at(arguments_.source, builder_.CreateMul(first, arguments_.across_stride));
        const int vectors = (packing_.width + packing_.lanes - 1) / packing_.lanes;
        panel.is_whole = builder_.CreateICmpSGE(builder_.CreateSub(arguments_.readable, first),
                                                constant(vectors * packing_.lanes));
        body(panel);
        return Values{at(target[0], panel_bytes)};
      });
}

// Vectors where whole ones are there, then the rest element by element onto zeros.
void Packer::emit_panels() {
  llvm::Value* whole_turns = constant(0);
  if (const int turn = depth_per_turn()) {
    whole_turns = builder_.CreateAnd(arguments_.valid_depth, constant(-int64_t{turn}));
    if (packing_.order == OperandOrder::kDepth) {
      pack_vectors(constant(0), whole_turns);
    } else {
      // A few rows of the source at a time into all panels, so that each cache line and page of a
      // row is met once; more would fall on each other where the stride is a power of two.
      const int block = kRowsAtATime * turn;
      emit_loop(builder_, {constant(0), whole_turns, block}, [&](llvm::Value* begin) {
        pack_vectors(begin, minimum(builder_.CreateAdd(begin, constant(block)), whole_turns));
      });
    }
  }
  for_each_panel([&](const Panel& panel) {
    llvm::Value* done = builder_.CreateSelect(panel.is_whole, whole_turns, constant(0));
    emit_if(builder_, builder_.CreateICmpSLT(done, arguments_.depth), [&] {
      llvm::Value* extent = builder_.CreateSub(arguments_.extent, panel.first);
      pack_rest(panel.source, done, minimum(extent, constant(packing_.width)), panel.target);
    });
  });
}

void Packer::pack_vectors(llvm::Value* begin, llvm::Value* end) {
  for_each_panel([&](const Panel& panel) {
    llvm::Value* stop = builder_.CreateSelect(panel.is_whole, end, begin);
    emit_loop(builder_, {begin, stop, depth_per_turn()}, [&](llvm::Value* depth) {
      llvm::Value* row = builder_.CreateMul(builder_.CreateUDiv(depth, constant(packing_.group)),
                                            constant(row_bytes()));
      if (packing_.order == OperandOrder::kAcross)
        pack_across(panel.source, depth, at(panel.target, row));
      else
        pack_depth(panel.source, depth, at(panel.target, row));
    });
  });
}

// One row of the panel: `group` rows of the source, interleaved.
void Packer::pack_across(llvm::Value* source, llvm::Value* depth, llvm::Value* target) {
  for (int lane = 0; lane < packing_.width; lane += packing_.lanes) {
    Values parts;
    for (int part = 0; part < packing_.group; ++part)
      parts.push_back(emit_load_packed(
          builder_, packing_,
          element(source, builder_.CreateAdd(depth, constant(part)), constant(lane)),
          packing_.lanes));
    builder_.CreateAlignedStore(emit_interleave(builder_, parts),
                                at(target, constant(lane * packing_.lane_bytes())), row_align());
  }
}

// `lanes` rows of the panel, by squares of lanes x lanes.
void Packer::pack_depth(llvm::Value* source, llvm::Value* depth, llvm::Value* target) {
  llvm::Type* lane = builder_.getIntNTy(8 * packing_.lane_bytes());
  llvm::Type* vector = llvm::FixedVectorType::get(lane, packing_.lanes);
  emit_loop(
      builder_, {constant(0), constant(packing_.width), packing_.lanes}, [&](llvm::Value* across) {
        Values rows;
        for (int i = 0; i < packing_.lanes; ++i) {
          llvm::Value* from = element(source, depth, builder_.CreateAdd(across, constant(i)));
          rows.push_back(builder_.CreateBitCast(
              emit_load_packed(builder_, packing_, from, packing_.lanes * packing_.group), vector));
        }
        llvm::Value* to = at(target, builder_.CreateMul(across, constant(packing_.lane_bytes())));
        for (llvm::Value* column : emit_transpose(builder_, rows)) {
          builder_.CreateAlignedStore(column, to, llvm::Align(vector_bytes()));
          to = at(to, constant(row_bytes()));
        }
      });
}

void Packer::pack_rest(llvm::Value* source, llvm::Value* from, llvm::Value* extent,
                       llvm::Value* target) {
  llvm::Value* first_row = builder_.CreateMul(builder_.CreateUDiv(from, constant(packing_.group)),
                                              constant(row_bytes()));
  llvm::Value* end = builder_.CreateMul(groups(arguments_.depth), constant(row_bytes()));
  builder_.CreateMemSet(at(target, first_row), builder_.getInt8(packing_.flips_top_bit ? 0x80 : 0),
                        builder_.CreateSub(end, first_row), row_align());
  const int packed_bytes = byte_size(packing_.packed);
  emit_loop(builder_, {from, arguments_.valid_depth}, [&](llvm::Value* depth) {
    llvm::Value* row = builder_.CreateMul(builder_.CreateUDiv(depth, constant(packing_.group)),
                                          constant(row_bytes()));
    llvm::Value* part = builder_.CreateMul(builder_.CreateURem(depth, constant(packing_.group)),
                                           constant(packed_bytes));
    llvm::Value* to = at(at(target, row), part);
    emit_loop(builder_, {constant(0), extent}, [&](llvm::Value* across) {
      llvm::Value* value = emit_load_packed(builder_, packing_, element(source, depth, across), 1);
      builder_.CreateAlignedStore(
          value, at(to, builder_.CreateMul(across, constant(packing_.lane_bytes()))),
          llvm::Align(packed_bytes));
    });
  });
}

void Packer::emit_rows(llvm::Value* target_stride) {
  const int turn = packing_.lanes * packing_.group;
  const int source_bytes = byte_size(packing_.source), packed_bytes = byte_size(packing_.packed);
  llvm::Value* whole = builder_.CreateAnd(arguments_.valid_depth, constant(-int64_t{turn}));
  llvm::Value* end =
      builder_.CreateMul(groups(arguments_.depth), constant(packing_.group * packed_bytes));
  emit_loop(builder_, {constant(0), arguments_.extent}, [&](llvm::Value* row) {
    llvm::Value* source = at(arguments_.source, builder_.CreateMul(row, arguments_.across_stride));
    llvm::Value* target = at(arguments_.target, builder_.CreateMul(row, target_stride));
    auto copy = [&](llvm::Value* begin, llvm::Value* stop, int count) {
      emit_loop(builder_, {begin, stop, count}, [&](llvm::Value* depth) {
        llvm::Value* value =
            emit_load_packed(builder_, packing_,
                             at(source, builder_.CreateMul(depth, constant(source_bytes))), count);
        builder_.CreateAlignedStore(value,
                                    at(target, builder_.CreateMul(depth, constant(packed_bytes))),
                                    llvm::Align(packed_bytes));
      });
    };
    copy(constant(0), whole, turn);
    copy(whole, arguments_.valid_depth, 1);
    llvm::Value* filled = builder_.CreateMul(arguments_.valid_depth, constant(packed_bytes));
    builder_.CreateMemSet(at(target, filled), builder_.getInt8(0), builder_.CreateSub(end, filled),
                          llvm::MaybeAlign(packed_bytes));
  });
}

PackArguments parameters_of(llvm::Function* f) {
  return {.source = f->getArg(0),
          .depth_stride = f->getArg(2),
          .across_stride = f->getArg(3),
          .valid_depth = f->getArg(4),
          .depth = f->getArg(5),
          .extent = f->getArg(6),
          .readable = f->getArg(7),
          .target = f->getArg(1)};
}

// Calls the function of that name with the arguments, after making it where it is missing.
void emit_call(llvm::IRBuilderBase& builder, const std::string& name,
               const PackArguments& arguments, llvm::Value* last,
               llvm::function_ref<void(llvm::IRBuilderBase&, llvm::Function*)> body) {
  llvm::Type* word = builder.getInt64Ty();
  llvm::Type* pointer = builder.getPtrTy();
  const InternalFunction made =
      internal_function(*builder.GetInsertBlock()->getModule(), name,
                        {pointer, pointer, word, word, word, word, word, word, word});
  if (made.is_new) {
    llvm::IRBuilder<> inner(llvm::BasicBlock::Create(builder.getContext(), "entry", made.function));
    body(inner, made.function);
    inner.CreateRetVoid();
  }
  builder.CreateCall(made.function, {arguments.source, arguments.target, arguments.depth_stride,
                                     arguments.across_stride, arguments.valid_depth,
                                     arguments.depth, arguments.extent, arguments.readable, last});
}

}  // namespace

std::string Packing::name() const {
  const char* suffix = order == OperandOrder::kAcross  ? "across"
                       : order == OperandOrder::kDepth ? "depth"
                                                       : "strided";
  return std::string(info(source).text_name) + "_" + std::string(info(packed).text_name) + "x" +
         std::to_string(group) + "_" + std::to_string(width) + (flips_top_bit ? "_flipped_" : "_") +
         suffix;
}

void emit_pack(llvm::IRBuilderBase& builder, const Packing& packing,
               const PackArguments& arguments) {
  emit_call(builder, "dot_pack_" + packing.name(), arguments, builder.getInt64(0),
            [&](llvm::IRBuilderBase& inner, llvm::Function* f) {
              PackArguments parameters = parameters_of(f);
              // The stride between neighbours is known; the vector loads rely on it.
              llvm::Value* adjacent = inner.getInt64(byte_size(packing.source));
              if (packing.order == OperandOrder::kAcross) parameters.across_stride = adjacent;
              if (packing.order == OperandOrder::kDepth) parameters.depth_stride = adjacent;
              Packer(inner, packing, parameters).emit_panels();
            });
}

void emit_copy_rows(llvm::IRBuilderBase& builder, const Packing& packing,
                    const PackArguments& arguments, llvm::Value* target_stride) {
  emit_call(builder, "dot_copy_rows_" + packing.name(), arguments, target_stride,
            [&](llvm::IRBuilderBase& inner, llvm::Function* f) {
              const PackArguments parameters = parameters_of(f);
              Packer(inner, packing, parameters).emit_rows(f->getArg(8));
            });
}

}  // namespace enceladus::cpu

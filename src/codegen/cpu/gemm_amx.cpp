#include "codegen/cpu/gemm_amx.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>

#include "codegen/cpu/gemm_shuffle.h"
#include "codegen/cpu/ir_loops.h"
#include "support/check.h"

namespace enceladus::cpu {
namespace {

constexpr int kTiles = 8;
constexpr int64_t kTileRowBytes = 64;
constexpr int kSetupBytes = 64;
constexpr int kRowsOffset = 48;  // in a setup: a byte for each tile

// Which of the eight tiles hold what: the accumulators first, then a tile for each row of tiles of
// A, then what is left for B, in turns.
struct TileNumbers {
  int rows, columns;  // of accumulator tiles

  explicit TileNumbers(int block_rows, int vectors)
      : rows((block_rows + kAmxRows - 1) / kAmxRows), columns(vectors) {
    ENC_CHECK(rows * columns + rows < kTiles);
  }
  int accumulator(int i, int j) const { return i * columns + j; }
  int a(int i) const { return rows * columns + i; }
  int first_b() const { return rows * columns + rows; }
  int b(int j) const { return first_b() + j % (kTiles - first_b()); }
  // Calls `body(tile, row of tiles)` for those whose height is the block's, not K's.
  template <typename Body>
  void for_each_of_rows(const Body& body) const {
    for (int i = 0; i < rows; ++i) {
      body(a(i), i);
      for (int j = 0; j < columns; ++j) body(accumulator(i, j), i);
    }
  }
};

llvm::Value* displaced(llvm::IRBuilderBase& builder, llvm::Value* pointer, llvm::Value* bytes) {
  return builder.CreateInBoundsGEP(builder.getInt8Ty(), pointer, bytes);
}

llvm::Value* displaced(llvm::IRBuilderBase& builder, llvm::Value* pointer, int64_t bytes) {
  return displaced(builder, pointer, builder.getInt64(bytes));
}

// What ldtilecfg reads: palette 1, bytes a row of each tile, rows of each tile.
llvm::GlobalVariable* whole_setup(llvm::Module& module, const RegisterBlock& block) {
  const std::string name =
      "amx_setup_" + std::to_string(block.rows) + "x" + std::to_string(block.vectors);
  if (llvm::GlobalVariable* present = module.getNamedGlobal(name)) return present;
  std::array<uint8_t, kSetupBytes> bytes{1};
  for (int tile = 0; tile < kTiles; ++tile) {
    bytes[16 + 2 * tile] = kTileRowBytes;
    bytes[kRowsOffset + tile] = kAmxRows;
  }
  TileNumbers(block.rows, block.vectors).for_each_of_rows([&](int tile, int row) {
    bytes[kRowsOffset + tile] =
        static_cast<uint8_t>(std::min(block.rows - row * kAmxRows, kAmxRows));
  });
  llvm::Constant* value =
      llvm::ConstantDataArray::get(module.getContext(), llvm::ArrayRef<uint8_t>(bytes));
  auto* global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::InternalLinkage, value, name);
  global->setAlignment(llvm::Align(kSetupBytes));
  return global;
}

llvm::Intrinsic::ID product_of(const GemmFormat& format) {
  using namespace llvm;
  if (format.product == Product::kBFloat16Amx) return Intrinsic::x86_tdpbf16ps;
  ENC_CHECK(format.product == Product::kInt8Amx);
  if (is_signed(format.a_source))
    return is_signed(format.b_source) ? Intrinsic::x86_tdpbssd : Intrinsic::x86_tdpbsud;
  return is_signed(format.b_source) ? Intrinsic::x86_tdpbusd : Intrinsic::x86_tdpbuud;
}

// Emits the body of one micro-kernel.
class AmxBlock {
 public:
  AmxBlock(llvm::IRBuilderBase& builder, const MicroKernel& kernel, const MicroArguments& arguments)
      : builder_(builder),
        kernel_(kernel),
        arguments_(arguments),
        tiles_(kernel.rows, kernel.vectors) {}

  void emit() {
    find_rows();
    start();
    run_depth();
    for_each_accumulator([&](int tile, llvm::Value* place) {
      call(llvm::Intrinsic::x86_tilestored64, {number(tile), place, arguments_.c_row_stride});
    });
    builder_.CreateRetVoid();
  }

 private:
  llvm::Value* number(int tile) { return builder_.getInt8(static_cast<uint8_t>(tile)); }
  void call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands) {
    builder_.CreateIntrinsic(id, {}, operands);
  }
  void load(int tile, llvm::Value* place, llvm::Value* stride) {
    call(llvm::Intrinsic::x86_tileloadd64, {number(tile), place, stride});
  }

  // Where each row of tiles begins. One past the last row begins at row 0 again, with one row: it
  // gives what the first one gives, so that nothing outside A or C is touched.
  void find_rows() {
    for (int i = 0; i < tiles_.rows; ++i) {
      llvm::Value* first = builder_.getInt64(i * kAmxRows);
      llvm::Value* exists = builder_.CreateICmpSLE(first, arguments_.last_row);
      first = builder_.CreateSelect(exists, first, builder_.getInt64(0));
      a_.push_back(
          displaced(builder_, arguments_.a, builder_.CreateMul(first, arguments_.a_row_stride)));
      c_.push_back(
          displaced(builder_, arguments_.c, builder_.CreateMul(first, arguments_.c_row_stride)));
    }
  }

  template <typename Body>
  void for_each_accumulator(const Body& body) {
    for (int i = 0; i < tiles_.rows; ++i)
      for (int j = 0; j < tiles_.columns; ++j)
        body(tiles_.accumulator(i, j), displaced(builder_, c_[i], j * kTileRowBytes));
  }

  void start() {
    auto load_all = [&] {
      for_each_accumulator(
          [&](int tile, llvm::Value* place) { load(tile, place, arguments_.c_row_stride); });
      return static_cast<llvm::Value*>(nullptr);
    };
    auto clear_all = [&] {
      for_each_accumulator(
          [&](int tile, llvm::Value*) { call(llvm::Intrinsic::x86_tilezero, {number(tile)}); });
      return static_cast<llvm::Value*>(nullptr);
    };
    emit_if_else(builder_, arguments_.accumulate, load_all, clear_all);
  }

  void run_depth() {
    const int64_t panel_row = tiles_.columns * kTileRowBytes;
    emit_carrying_loop(builder_, {builder_.getInt64(0), arguments_.groups, kAmxRows},
                       {builder_.getInt64(0), arguments_.b}, [&](llvm::Value*, auto carried) {
                         multiply(carried[0], carried[1], builder_.getInt64(panel_row));
                         return Values{
                             builder_.CreateAdd(carried[0], builder_.getInt64(kTileRowBytes)),
                             displaced(builder_, carried[1], kAmxRows * panel_row)};
                       });
  }

  // One tile's worth of K: each tile of A against each of B.
  void multiply(llvm::Value* a_offset, llvm::Value* b, llvm::Value* panel_row) {
    const llvm::Intrinsic::ID product = product_of(kernel_.format);
    for (int i = 0; i < tiles_.rows; ++i) {
      load(tiles_.a(i), displaced(builder_, a_[i], a_offset), arguments_.a_row_stride);
      for (int j = 0; j < tiles_.columns; ++j) {
        if (i == 0) load(tiles_.b(j), displaced(builder_, b, j * kTileRowBytes), panel_row);
        call(product, {number(tiles_.accumulator(i, j)), number(tiles_.a(i)), number(tiles_.b(j))});
      }
    }
  }

  llvm::IRBuilderBase& builder_;
  const MicroKernel& kernel_;
  const MicroArguments& arguments_;
  const TileNumbers tiles_;
  Values a_, c_;
};

llvm::Function* amx_function(llvm::Module& module, const MicroKernel& kernel) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* word = llvm::Type::getInt64Ty(context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  const InternalFunction made = internal_function(
      module, kernel.name(),
      {word, pointer, pointer, pointer, word, word, word, llvm::Type::getInt1Ty(context)});
  if (!made.is_new) return made.function;
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", made.function));
  llvm::Function* f = made.function;
  const MicroArguments arguments{.groups = f->getArg(0),
                                 .a = f->getArg(1),
                                 .a_row_stride = f->getArg(4),
                                 .last_row = f->getArg(5),
                                 .b = f->getArg(2),
                                 .c = f->getArg(3),
                                 .c_row_stride = f->getArg(6),
                                 .accumulate = f->getArg(7)};
  AmxBlock(builder, kernel, arguments).emit();
  return made.function;
}

// The body of emit_turned_panel's function: squares of 16 x 16 lanes.
void turn_panel(llvm::IRBuilderBase& builder, int width, llvm::Function* f) {
  llvm::Value *panel = f->getArg(0), *target = f->getArg(1);
  llvm::Value *groups = f->getArg(2), *stride = f->getArg(3);
  llvm::Type* vector = llvm::FixedVectorType::get(builder.getInt32Ty(), kAmxLanes);
  const int64_t row_bytes = int64_t{width} * 4;
  emit_loop(builder, {builder.getInt64(0), groups, kAmxRows}, [&](llvm::Value* group) {
    llvm::Value* square =
        displaced(builder, panel, builder.CreateMul(group, builder.getInt64(row_bytes)));
    llvm::Value* column = displaced(builder, target, builder.CreateMul(group, builder.getInt64(4)));
    for (int first = 0; first < width; first += kAmxLanes) {
      Values lines;
      for (int i = 0; i < kAmxRows; ++i)
        lines.push_back(builder.CreateAlignedLoad(
            vector, displaced(builder, square, i * row_bytes + first * 4), llvm::Align(4)));
      lines = emit_transpose(builder, lines);
      // A panel narrower than a vector has what follows it in the other lanes.
      for (int i = 0; i < std::min(kAmxLanes, width - first); ++i)
        builder.CreateAlignedStore(
            lines[i],
            displaced(builder, column, builder.CreateMul(stride, builder.getInt64(first + i))),
            llvm::Align(4));
    }
  });
}

}  // namespace

void emit_amx_setup(llvm::IRBuilderBase& builder, const RegisterBlock& block) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  builder.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {whole_setup(module, block)});
}

void emit_amx_setup(llvm::IRBuilderBase& builder, const RegisterBlock& block, llvm::Value* last_row,
                    llvm::Value* place) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::Type* line = llvm::FixedVectorType::get(builder.getInt8Ty(), kSetupBytes);
  builder.CreateAlignedStore(
      builder.CreateAlignedLoad(line, whole_setup(module, block), llvm::Align(kSetupBytes)), place,
      llvm::Align(kSetupBytes));
  TileNumbers(block.rows, block.vectors).for_each_of_rows([&](int tile, int row) {
    llvm::Value* height =
        builder.CreateSub(last_row, builder.getInt64(int64_t{row} * kAmxRows - 1));
    auto bounded = [&](llvm::CmpInst::Predicate outside, int64_t bound) {
      llvm::Value* is_outside = builder.CreateICmp(outside, height, builder.getInt64(bound));
      return builder.CreateSelect(is_outside, builder.getInt64(bound), height);
    };
    height = bounded(llvm::CmpInst::ICMP_SGT, kAmxRows);
    height = bounded(llvm::CmpInst::ICMP_SLT, 1);
    builder.CreateStore(builder.CreateTrunc(height, builder.getInt8Ty()),
                        displaced(builder, place, kRowsOffset + tile));
  });
  builder.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {place});
}

void emit_amx_release(llvm::IRBuilderBase& builder) {
  builder.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
}

void emit_amx_call(llvm::IRBuilderBase& builder, const MicroKernel& kernel,
                   const MicroArguments& arguments) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  builder.CreateCall(
      amx_function(module, kernel),
      {arguments.groups, arguments.a, arguments.b, arguments.c, arguments.a_row_stride,
       arguments.last_row, arguments.c_row_stride, arguments.accumulate});
}

void emit_turned_panel(llvm::IRBuilderBase& builder, const Packing& packing, llvm::Value* panel,
                       llvm::Value* groups, llvm::Value* target, llvm::Value* stride) {
  ENC_CHECK(packing.lane_bytes() == 4 && packing.lanes == kAmxLanes);
  llvm::Type *word = builder.getInt64Ty(), *pointer = builder.getPtrTy();
  const InternalFunction made = internal_function(*builder.GetInsertBlock()->getModule(),
                                                  "dot_turn_panel_" + std::to_string(packing.width),
                                                  {pointer, pointer, word, word});
  if (made.is_new) {
    llvm::IRBuilder<> inner(llvm::BasicBlock::Create(builder.getContext(), "entry", made.function));
    turn_panel(inner, packing.width, made.function);
    inner.CreateRetVoid();
  }
  builder.CreateCall(made.function, {panel, target, groups, stride});
}

}  // namespace enceladus::cpu

// The state of one lowering and its parts, a file each: what a tile's value is in the SIMT
// function.
//
// Operations are lowered in order. A tile with a home is computed where it stands; a cheap one when
// something pulls it, in the layout that the user wants, and placed in the region of its own
// definition, before the loop or branch at hand: so a loop does not recompute what it does not
// change, and a value computed once per layout serves all later users.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "analysis/facts.h"
#include "ir/builder.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/assignment.h"
#include "lowering/tile_to_simt/combine.h"
#include "lowering/tile_to_simt/footprints.h"
#include "lowering/tile_to_simt/fragments.h"
#include "lowering/tile_to_simt/hopper_parts.h"
#include "lowering/tile_to_simt/matmul_loops.h"
#include "lowering/tile_to_simt/pointer_blocks.h"
#include "lowering/tile_to_simt/report.h"
#include "lowering/tile_to_simt/tallies.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

inline const ir::Type kInt32 = ir::Type::number(DType::kInt32);

class Lowering {
 public:
  Lowering(const ir::Function& tile, const SimtTarget& target, LoweringReport& report);
  std::unique_ptr<ir::Function> run();

 private:
  // --- lowering.cpp: regions and values ---
  // A region of the tile IR and that of the SIMT IR which it becomes.
  struct Scope {
    const ir::Region* tile;
    ir::Region* simt;
  };
  // While it lives, new operations go where a value of `region` may be computed.
  class Placement {
   public:
    Placement(Lowering& lowering, const ir::Region* region);
    Placement(Lowering& lowering, size_t level);
    ~Placement();

   private:
    Lowering& lowering_;
    size_t level_;
    Location location_;
  };
  void place_at(size_t level);
  // How many loops and branches hold the region; that of a value's definition.
  size_t level_of(const ir::Region* region) const;
  size_t level_of(const ir::Value* value) const;
  // Builds in a region of an operation that the tile IR does not have.
  template <typename Build>
  void within(ir::Region* region, const Build& build) {
    scopes_.push_back({nullptr, region});
    place_at(scopes_.size() - 1);
    build();
    scopes_.pop_back();
    place_at(scopes_.size() - 1);
  }
  void region(const ir::Region& tile, ir::Region* simt);
  void operation(const ir::Operation& op);
  ir::Value* scalar(const ir::Value* value) const;
  void set_scalar(const ir::Value* value, ir::Value* simt);
  // The tile, by its home layout.
  void set_tile(const ir::Value* tile, ir::Value* array);
  ir::Type array_type(const ir::Type& tile, const LinearLayout& layout) const;
  ir::Value* splat(ir::Value* scalar, const ir::Type& like);
  // One of those made of the same operation with scalars for tiles.
  void scalar_operation(const ir::Operation& op);

  // --- pull.cpp: tiles as register arrays ---
  ir::Value* pull(const ir::Value* tile, const LinearLayout& layout);
  // The same for a layout with free register bits, whose registers are copies.
  ir::Value* pull_copies(const ir::Value* tile, const LinearLayout& layout);
  ir::Value* recompute(const ir::Operation& op, const LinearLayout& layout);
  // Computed once for neighbouring registers that are known to agree; null where none do.
  ir::Value* recompute_once(const ir::Operation& op, const LinearLayout& layout);
  bool is_recomputed(const ir::Operation& op) const;
  ir::Value* recompute_shape(const ir::Operation& op, const LinearLayout& layout);
  LinearLayout operand_layout(const ir::Operation& op, const LinearLayout& layout) const;
  ir::Value* apply(const ir::Operation& op, const Values& operands);
  size_t layout_id(const LinearLayout& layout);

  // --- convert.cpp ---
  ir::Value* linear(const Bases& bases);
  ir::Value* coordinates(const LinearLayout& layout, int axis);
  ir::Value* registers(ir::Value* array, std::vector<int64_t> map);
  ir::Value* convert(ir::Value* array, const LinearLayout& from, const LinearLayout& to);
  ir::Value* convert_by_shuffles(ir::Value* array, const LinearLayout& from, const LinearLayout& to,
                                 const LinearLayout& pull);
  ir::Value* shuffled_registers(ir::Value* array, const std::vector<int64_t>& map,
                                const std::vector<int64_t>& lanes,
                                const std::vector<int64_t>& lane_bases);
  ir::Value* convert_through_shared(ir::Value* array, const LinearLayout& from,
                                    const LinearLayout& to);
  // Null where the target layout is not made of matrices.
  ir::Value* convert_by_matrix_loads(ir::Value* array, const LinearLayout& from,
                                     const LinearLayout& to);
  ir::Value* shared_buffer(int64_t bytes);
  // Null where every thread owns what it holds.
  ir::Value* owner(const LinearLayout& layout);
  // The mask of an access of type `like` that owners alone make; null where all threads make it
  // unmasked.
  ir::Value* owned_mask(const LinearLayout& layout, ir::Value* mask, const ir::Type& like);
  // The number behind the buffers' bytes: booleans take a byte there.
  ir::Value* widened(ir::Value* value);
  ir::Value* narrowed(ir::Value* value, DType dtype);

  // --- memory.cpp ---
  // What barriers.h asks of an access: its attribute `exclusive`, its operand `apart`.
  struct Exclusion {
    ir::Attribute attribute{ir::AttributeName::kExclusive, int64_t{kNotExclusive}};
    ir::Value* apart = nullptr;
  };
  Exclusion exclusion(const ir::Operation& access, const LinearLayout& layout);
  // Whether it is the layout that a dot leaves its result in.
  bool is_fragments(const LinearLayout& layout) const;
  void load(const ir::Operation& op);
  void store(const ir::Operation& op);
  void store_block(const ir::Operation& op);

  // --- blocks.cpp ---
  struct BlockAxis {
    int axis = 0;
    int64_t extent = 1;
    DType index = DType::kInt64;  // of offsets in elements
    size_t offset_level = 0;      // where the offset is known, and the stride
    size_t stride_level = 0;
    ir::Value* offset = nullptr;  // of the block along this axis; null for blocks of pointers
    ir::Value* stride = nullptr;  // elements; null for 1
    ir::Value* first = nullptr;   // int32: coordinates below it are outside; null for 0
    ir::Value* left = nullptr;    // int32: coordinates from it on are outside
    ir::Value* inside = nullptr;  // i1: all coordinates are inside; null for true
  };
  struct BlockAccess {
    std::vector<BlockAxis> axes;
    std::vector<Bases> bases;  // by axis
    ir::Value* pointer = nullptr;
    ir::Value* mask = nullptr;
    ir::Value* all_inside = nullptr;
  };
  BlockAxis block_axis(const ir::Operation& access, int axis);
  std::vector<BlockAxis> block_axes(const ir::Operation& access);
  ir::Value* along(const BlockAxis& axis, ir::Value* number);
  ir::Value* thread_pointer(const ir::Operation& access, const std::vector<BlockAxis>& axes,
                            const std::vector<Bases>& bases);
  ir::Value* thread_part(const Bases& bases);
  ir::Value* register_pointers(ir::Value* pointer, const std::vector<BlockAxis>& axes,
                               const std::vector<Bases>& bases);
  ir::Value* inside_of(const BlockAxis& axis, ir::Value* coordinates);
  ir::Value* both(ir::Value* a, ir::Value* b);
  ir::Value* padding(const ir::Operation& load, const ir::Type& type);
  BlockAccess block_access(const ir::Operation& op, const LinearLayout& layout);
  ir::Value* groups_inside(const std::vector<BlockAxis>& axes, const std::vector<Bases>& bases,
                           size_t depth_axis = 0, ir::Value* depth = nullptr);
  // What a load of a tile, by pointers or by a descriptor, reads in a layout.
  struct LoadOperands {
    ir::Value* pointer;
    ir::Value* mask;
    ir::Value* other;
  };
  LoadOperands load_operands(const ir::Operation& op, const LinearLayout& layout);
  void direct_load(const ir::Operation& op);

  // --- pointer_axes.cpp ---
  size_t level_of(const analysis::Sum& sum) const;
  ir::Value* sum_value(const analysis::Sum& sum, DType dtype);
  std::vector<std::pair<size_t, analysis::Sum>> by_level(const analysis::Sum& sum) const;
  ir::Value* clamped(ir::Value* limit, int64_t extent);
  void bound_axis(const PointerBlock& block, BlockAxis& axis);
  BlockAxis pointer_axis(const ir::Operation& access, int axis);

  // --- reduce.cpp ---
  // What is left to combine: one array an input, in a layout over a tile whose other axes stay.
  struct Reduction {
    LinearLayout layout;
    int axis = 0;
    Values values;
  };
  void reduce(const ir::Operation& op);
  void reduce_registers(const ir::Operation& op, Reduction& state);
  void reduce_lanes(const ir::Operation& op, Reduction& state);
  Values combined(const ir::Operation& op, const Values& left, const Values& right);
  Values combine_across(const ir::Operation& op, const Values& own, const Values& other, int bit);
  ir::Value* shuffle_xor(ir::Value* value, int64_t mask);

  // --- scan.cpp ---
  void scan(const ir::Operation& op);
  struct Scan;
  void scan_registers(const ir::Operation& op, Scan& state, int bit);
  void scan_lanes(const ir::Operation& op, Scan& state, int bit);
  void scan_across_warps(const ir::Operation& op, Scan& state);
  ir::Value* block_ends(ir::Value* value, const Scan& state, int bit,
                        const std::vector<int64_t>& chosen);
  ir::Value* shuffle(ir::Value* value, std::vector<int64_t> lane_bases, int64_t lane);

  // --- staging.cpp ---
  struct Stage {
    ir::Value* buffer;
    int axis;  // along which rows lie in memory
    LinearLayout memory;
  };
  static bool is_staged(const ir::Operation& load);
  void stage_buffer(const ir::Operation& op);
  int staged_axis(const ir::Operation& load) const;
  void stage_store(const ir::Operation& op);
  void store_to_stage(const Stage& stage, const LinearLayout& layout, const ir::Value* slot,
                      ir::Value* values);
  void stage_wait(const ir::Operation& op);
  ir::Value* stage_load(const ir::Operation& op, const LinearLayout& layout);
  ir::Value* stage_offsets(const LinearLayout& layout, const Stage& stage, const ir::Value* slot);

  // --- dot.cpp ---
  void dot(const ir::Operation& op);
  void report_dot(const ir::Operation& op, std::string backend);
  ir::Value* dot_fragments(const ir::Operation& op, const MatrixUse& use);
  ir::Value* multiply_fragments(const MatrixUse& use, Values operands,
                                std::vector<int64_t> fragments);
  ir::Value* dot_elements(const ir::Operation& op);
  using Flips = std::span<const int64_t>;  // of columns, by bits of the row
  ir::Value* staged(const ir::Value* tile, Flips flips);
  ir::Value* staged_offsets(const LinearLayout& accumulator, const ir::Type& operand,
                            int depth_axis, Flips flips);

  // --- dot_blocks.cpp ---
  // An operand of a product in shared memory.
  struct Block {
    ir::Value* buffer = nullptr;
    LinearLayout memory;
    DType dtype = DType::kFloat32;
  };
  ir::Value* dot_blocks(const ir::Operation& op);
  Block stage_block(const ir::Value* tile, int side, int depth, int64_t flips);
  ir::Value* block_side(const Block& block, const LinearLayout& result, int side, ir::Value* place,
                        DType dtype);

  // --- direct_dot.cpp ---
  struct StepOperand;
  enum class Edge : uint8_t { kNone, kMasked };
  struct Steps;
  ir::Value* dot_direct(const ir::Operation& op, const MatrixUse& use,
                        const FragmentLayouts& layouts, ir::Value* acc);
  StepOperand step_operand(const ir::Operation& dot, int operand, const LinearLayout& layout,
                           int depth_bits);
  ir::Value* step_fragments(const StepOperand& operand, ir::Value* depth, Edge edge);
  ir::Value* step_mask(const StepOperand& operand, ir::Value* depth);
  ir::Value* computed(const ir::Operation& op, ir::Value* array);
  ir::Value* steps_to_take(const Steps& steps);
  ir::Value* multiply_step(const Steps& steps, ir::Value* acc, ir::Value* step, Edge edge);
  ir::Value* multiply_steps(const Steps& steps, ir::Value* acc, Edge edge);

  // --- matmul_loop.cpp ---
  void start_matmul(const MatmulLoop& matmul);
  void multiply_matmul(const MatmulLoop& matmul);
  void store_matmul(const MatmulLoop& matmul);
  // Elements already computed, by tile and coordinates.
  using Elements = std::map<std::pair<const ir::Value*, Values>, ir::Value*>;
  ir::Value* element_of(const ir::Value* tile, const Values& place, Elements& elements);
  ir::Value* element_of_shape(const ir::Operation& op, Values place, Elements& elements);
  ir::Value* loaded_element(const ir::Operation& op, const Values& place, Elements& elements);

  // --- debug.cpp ---
  void device_print(const ir::Operation& op);
  void device_assert(const ir::Operation& op);
  void print_value(const ir::Operation& op, int part);

  // --- hopper.cpp ---
  void hopper_kernel();
  void make_rings();
  // Whether the operation was one of those of hopper_plan.h, which is now lowered.
  bool hopper_operation(const ir::Operation& op);
  // `in_step`: both groups read the slot at once.
  void take(int ring, bool in_step);
  void free_slot(int ring, ir::Value* slot, ir::Value* mask);
  void free_rings(const ir::Region& tile);
  void free_behind_last(const WgmmaPlan& product);
  ir::Value* operand_place(const RingLoad& load, bool along_depth, int64_t group_step);
  void wgmma(const ir::Operation& op, const WgmmaPlan& product);
  void report_product(const ir::Operation& op, const WgmmaPlan& product);
  ir::Value* start_product(const ir::Operation& op, ir::Value* left, ir::Value* sum,
                           ir::Value* add);
  ir::Value* role(const char* name);
  // The group's number times `factor`.
  ir::Value* group_number(int64_t factor);
  void simt_statement(ir::Opcode opcode, std::initializer_list<ir::Value*> operands,
                      std::vector<ir::Attribute> attributes = {});

  // --- hopper_loop.cpp ---
  // A product that runs on into the next turn of the loop at hand.
  struct Running {
    const ir::Operation* dot = nullptr;
    int index = 0;  // of the sum among the loop's variables
    const ir::Value* sum = nullptr;
    int ring = -1;
    // What it read in the turn before; where it starts late, whether there was such a turn.
    ir::Value* slot = nullptr;
    bool starts_at_zero = false;
    // Where it starts late: its registers of A from the turn before, and for the next one.
    ir::Value* left = nullptr;
    ir::Value* next_left = nullptr;
  };
  Running running_product(const ir::Operation& dot, const ir::Operation& loop) const;
  ir::Value* is_used(ir::Value* slot);
  ir::Value*& sum_of(const Running& running);
  void finish_turn(const Running& running);
  int start_late_products(const ir::Operation& first);
  void start_late(Running& running);
  void put_off(const ir::Operation& op, ir::Value* left, ir::Value* sum);
  void finish_before(const ir::Operation& op);
  void running_loop(const ir::Operation& op, const std::vector<const ir::Operation*>& dots);
  Values initial_values(const ir::Operation& op);
  Values values_of_next_turn(const ir::Region& tile);

  // --- guards.cpp ---
  struct Extremes {
    ir::Value *low, *high;
    ir::Value* exact;  // whether nothing wraps; null where it cannot
  };
  bool guarded_select(const ir::Operation& op);
  ir::Value* always(const ir::Value* mask);
  std::optional<Extremes> extremes(const ir::Value* value);

  // --- copy_out.cpp ---
  struct CopyOut {
    layout::SwizzledTile panel;
    int64_t buffers = 1;
    ir::Value* map = nullptr;
    ir::Value* buffer = nullptr;
    Values coordinates;  // of the group's first panel
  };
  bool copy_out(const ir::Operation& op);
  void copy_panel_out(const CopyOut& out, ir::Value* values, int64_t index);

  // --- atomics.cpp ---
  void atomic(const ir::Operation& op);
  void open_tallies(const ir::Operation& scope);
  void close_tallies(const ir::Operation& scope);
  // Counts where the tally reaches; the mask of the elements that are left.
  ir::Value* count(const Tally& tally, const LinearLayout& layout, ir::Value* value,
                   ir::Value* mask);

  // --- control.cpp ---
  void for_loop(const ir::Operation& op);
  void while_loop(const ir::Operation& op);
  void branch(const ir::Operation& op);
  ir::Value* carried(const ir::Value* value, const ir::Value* like);
  void define(const ir::Value* value, ir::Value* simt);
  void yield(const ir::Region& tile, std::span<ir::Value* const> like);
  void nested(const ir::Region& tile, ir::Region* simt, std::span<ir::Value* const> like);

  const ir::Function& tile_;
  const SimtTarget& target_;
  LoweringReport& report_;
  std::unique_ptr<ir::Function> simt_;
  analysis::Facts facts_;
  HopperPlan hopper_;
  Assignment assignment_;
  MatmulLoops matmul_loops_;
  Footprints footprints_;
  PointerBlocks pointer_blocks_;
  Tallies tallies_;
  ir::Builder builder_;
  std::vector<Scope> scopes_;
  size_t level_ = 0;
  Values scalars_;                            // by the tile IR's value id
  std::map<const ir::Value*, Stage> stages_;  // by the tile IR's buffer
  HopperValues hopper_values_;
  Values slots_;                         // by ring: the slot taken last
  std::array<ir::Value*, 3> program_{};  // where each program walks many of the grid
  std::vector<Running> running_;
  ir::Operation* roles_ = nullptr;
  bool copies_out_ = false;
  std::vector<LinearLayout> fragments_;                 // of the dots so far
  std::map<const ir::Operation*, ir::Value*> matmuls_;  // accumulators by their loops
  std::map<const Tally*, ir::Value*> counts_;           // shared buffers of the open tallies
  std::vector<LinearLayout> layouts_;
  std::map<std::pair<uint32_t, size_t>, ir::Value*> arrays_;  // by value and layout
};

}  // namespace enceladus::simt

// Loops that the target's library multiplies as a whole (Metal Performance Primitives' `matmul2d`):
// `acc = tl.dot(a, b, acc)` from zeros, both operands direct descriptor loads, the result stored by
// one descriptor store behind elementwise operations. Says for every other dot why it is none.
// Not: the code for them (matmul_loop.cpp).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/facts.h"
#include "ir/ir.h"
#include "lowering/tile_to_simt/direct_loads.h"
#include "lowering/tile_to_simt/target.h"

namespace enceladus::simt {

struct MatmulLoop {
  const ir::Operation* loop = nullptr;
  size_t carried = 0;  // the accumulator among the loop's variables
  const ir::Operation* dot = nullptr;
  const ir::Operation* store = nullptr;
  std::vector<const ir::Operation*> epilogue;  // between the loop and the store
  const ir::Value* result() const { return loop->result(static_cast<int>(carried)); }
};

class MatmulLoops {
 public:
  // Finds none where neither the target nor the launch asks for them.
  MatmulLoops(const ir::Function& function, const SimtTarget& target, const DirectLoads& direct,
              const analysis::Facts& facts);

  // The one whose loop, dot or store this operation is; else null.
  const MatmulLoop* of(const ir::Operation& op) const;
  // Whether the operation stands between a loop and its store.
  bool absorbs(const ir::Operation& op) const;
  // Why the dot is not in such a loop; empty where it is, or where none was asked for.
  std::string reason(const ir::Operation& dot) const;

 private:
  void find(const ir::Operation& dot);

  std::vector<MatmulLoop> loops_;
  std::map<uint32_t, size_t> by_operation_;
  std::map<uint32_t, bool> absorbed_;
  std::map<uint32_t, std::string> reasons_;
};

}  // namespace enceladus::simt

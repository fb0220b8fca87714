// A whole tile product for a test: operands that end at the end of a page followed by an
// inaccessible one (so that a read past an edge ends the test), the emitted function, its result
// and what a plain triple loop gives.
#pragma once

#include <cstdint>
#include <vector>

#include "gemm_call.h"

namespace enceladus::cpu {

// Memory whose last byte is followed by an inaccessible page.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t bytes);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  char* data() const { return data_; }

 private:
  size_t mapped_;
  char* base_;
  char* data_;
};

struct ProductTypes {
  DType a, b, accumulator;

  GemmSpec spec(int rows, int columns) const {
    return {.a = a, .b = b, .accumulator = accumulator, .rows = rows, .columns = columns};
  }
};

struct Sizes {
  int64_t rows, columns, depth;
  int64_t a_depth = -1, b_depth = -1;  // -1: all of depth
};

class TileCase {
 public:
  // Random operands, extremes often. `target` lives as long: the host, or emulated_amx_target().
  TileCase(const GemmSpec& spec, const Sizes& sizes, const HostTarget& target = host_target());

  double a(int64_t i, int64_t k) const;  // zero past a_depth
  double b(int64_t k, int64_t j) const;
  double c(int64_t i, int64_t j) const;
  void set_a(int64_t i, int64_t k, double value);
  void set_b(int64_t k, int64_t j, double value);

  GemmCall call() const;
  // Runs it once.
  void run() const;
  // Runs it and compares every element of the tile, those outside the edges too.
  void check();

 private:
  using Matrix = std::vector<std::vector<double>>;

  double expected(int64_t i, int64_t j) const;
  int64_t row_stride() const;
  int64_t a_index(int64_t i, int64_t k) const;
  int64_t b_index(int64_t k, int64_t j) const;

  GemmSpec spec_;
  Sizes sizes_;
  const HostTarget& target_;
  int64_t a_depth_, b_depth_;
  GuardedBytes a_, b_, c_, scratch_;
};

// The function of a spec, compiled once in a process for each of the targets that TileCase takes.
const JitFunction& compiled_gemm(const GemmSpec& spec, const HostTarget& target = host_target());

}  // namespace enceladus::cpu

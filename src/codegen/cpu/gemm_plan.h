// The figures of one tile product that follow from its types, its sizes and the host: formats,
// blocks, how A reaches the micro-kernel, how much of K is packed at a time and where in scratch
// everything lies. No LLVM here.
#pragma once

#include "codegen/cpu/gemm.h"
#include "codegen/cpu/gemm_format.h"

namespace enceladus::cpu {

// How the micro-kernel gets A.
enum class APath {
  kInPlace,      // read where it lies
  kMaybeCopied,  // read where it lies but at the end of K, where run time may ask for a copy
  kCopied,       // each block of rows copied, converted
  kPacked,       // the tile packed in panels [K groups][rows]: rows are not contiguous; AMX wants
                 // rows, so that it turns each panel around
};

struct GemmPlan {
  GemmFormat format;
  RegisterBlock block;
  APath a_path;
  Packing a_packing, b_packing;
  int64_t depth_step;         // of K, packed and multiplied at a time
  int64_t kept_depth;         // of K, kept packed; 0 where nothing is kept
  int64_t panels;             // most panels of B
  int64_t a_row_bytes;        // of a copied row of A
  int64_t row_starts_offset;  // in scratch, after the key of what is kept; of AMX, a setup
  int64_t a_offset;
  int64_t rows_offset;  // of a block's rows of A, copied or turned from a packed panel
  int64_t b_offset;
  int64_t scratch_bytes;

  int panel_width() const { return block.vectors * format.lanes; }
  // Of a panel of B, for each group of K.
  int64_t panel_row_bytes() const { return int64_t{panel_width()} * format.lane_bytes(); }
};

GemmPlan plan_gemm(const HostTarget& host, const GemmSpec& spec);
// The instructions that it is made of, with the reason where better ones are passed over.
std::string multiplied_by(const HostTarget& host, const GemmSpec& spec);

}  // namespace enceladus::cpu

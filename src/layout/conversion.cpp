#include "layout/conversion.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "layout/gf2.h"
#include "support/check.h"

namespace enceladus::layout {
namespace {

// Whether the map sends `dim` to itself and nothing else into it.
bool keeps(const LinearLayout& map, Dim dim) {
  for (const Space::Part& part : map.in().parts()) {
    for (int bit = 0; bit < part.bits; ++bit) {
      int64_t image = map.out().coordinate(map.basis_of(part.dim, bit), dim);
      // A bit that the source lacks stands for a copy there: position 0 serves.
      bool own = part.dim == dim && bit < map.out().bits(dim);
      if (image != (own ? int64_t{1} << bit : 0)) return false;
    }
  }
  return true;
}

bool register_map_is_identity(const LinearLayout& pull) {
  if (pull.in().bits(Dim::kRegister) != pull.out().bits(Dim::kRegister)) return false;
  for (int bit = 0; bit < pull.in().bits(Dim::kRegister); ++bit) {
    uint64_t image = pull.basis_of(Dim::kRegister, bit);
    if (pull.out().coordinate(image, Dim::kRegister) != int64_t{1} << bit) return false;
  }
  return true;
}

// Rank of the part of the source register that depends on the target's lane.
int lane_dependent_register_bits(const LinearLayout& pull) {
  ColumnBasis columns;
  for (Dim dim : {Dim::kLane, Dim::kWarp})
    for (int bit = 0; bit < pull.in().bits(dim); ++bit) {
      auto image =
          static_cast<uint64_t>(pull.out().coordinate(pull.basis_of(dim, bit), Dim::kRegister));
      columns.insert(image, 0);
    }
  return columns.rank();
}

std::vector<uint64_t> images(const LinearLayout& layout, Dim dim, int count, const Space& tile) {
  std::vector<uint64_t> result;
  for (int bit = 0; bit < std::min(count, layout.in().bits(dim)); ++bit) {
    uint64_t packed = layout.basis_of(dim, bit), moved = 0;
    for (const Space::Part& part : layout.out().parts())
      moved |= static_cast<uint64_t>(layout.out().coordinate(packed, part.dim))
               << tile.offset(part.dim);
    if (moved) result.push_back(moved);
  }
  return result;
}

// A basis of span(a) intersected with span(b).
std::vector<uint64_t> intersection(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  // Zassenhaus: a dependency of a and b together writes a sum over a as a sum over b.
  ColumnBasis all;
  std::vector<uint64_t> columns(a.begin(), a.end()), found;
  columns.insert(columns.end(), b.begin(), b.end());
  ColumnBasis independent;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (all.insert(columns[i], static_cast<int>(i))) continue;
    if (i < a.size()) continue;
    uint64_t members = *all.solve(columns[i]), shared = 0;
    for (size_t j = 0; j < a.size(); ++j)
      if (members >> j & 1) shared ^= a[j];
    if (independent.insert(shared, 0)) found.push_back(shared);
  }
  return found;
}

// Those of `columns` that are independent of `taken` and of one another; they join `taken`.
std::vector<uint64_t> extend(ColumnBasis& taken, std::span<const uint64_t> columns) {
  std::vector<uint64_t> added;
  for (uint64_t column : columns)
    if (taken.insert(column, 0)) added.push_back(column);
  return added;
}

std::vector<uint64_t> unit_columns(int bits) {
  std::vector<uint64_t> columns;
  for (int bit = 0; bit < bits; ++bit) columns.push_back(uint64_t{1} << bit);
  return columns;
}

ColumnBasis basis_of(std::span<const uint64_t> columns) {
  ColumnBasis basis;
  extend(basis, columns);
  return basis;
}

int log2_of(int64_t value) { return std::bit_width(static_cast<uint64_t>(value)) - 1; }

// Directions that change the address but not the bank, chosen so that no two lanes of one step of
// either side differ by one of them (modulo the vector): sums of a lane direction of each side
// that the other has not, and directions that no lane has.
std::vector<uint64_t> conflict_free_rows(std::span<const uint64_t> vector,
                                         std::span<const uint64_t> writer_lanes,
                                         std::span<const uint64_t> reader_lanes, int tile_bits,
                                         int wanted) {
  std::vector<uint64_t> writer(vector.begin(), vector.end()), reader = writer;
  writer.insert(writer.end(), writer_lanes.begin(), writer_lanes.end());
  reader.insert(reader.end(), reader_lanes.begin(), reader_lanes.end());
  std::vector<uint64_t> common = intersection(writer, reader);
  ColumnBasis with_writer = basis_of(common), with_reader = basis_of(common);
  std::vector<uint64_t> only_writer = extend(with_writer, writer);
  std::vector<uint64_t> only_reader = extend(with_reader, reader);
  std::vector<uint64_t> rows;
  for (size_t i = 0; i < std::min(only_writer.size(), only_reader.size()); ++i)
    rows.push_back(only_writer[i] ^ only_reader[i]);
  ColumnBasis everything = with_writer;
  extend(everything, only_reader);
  std::vector<uint64_t> outside = extend(everything, unit_columns(tile_bits));
  rows.insert(rows.end(), outside.begin(), outside.end());
  // Conflicts that cannot be avoided fall on the writer's lanes.
  for (uint64_t column : only_writer) rows.push_back(column);
  std::vector<uint64_t> chosen;
  ColumnBasis taken = basis_of(vector);
  for (uint64_t row : rows)
    if (static_cast<int>(chosen.size()) < wanted && taken.insert(row, 0)) chosen.push_back(row);
  return chosen;
}

}  // namespace

Conversion classify(const LinearLayout& from, const LinearLayout& to) {
  Conversion result{ConversionKind::kShared, to.pull_from(from)};
  const LinearLayout& pull = result.pull;
  if (!keeps(pull, Dim::kWarp)) return result;
  int varying = lane_dependent_register_bits(pull);
  if (!keeps(pull, Dim::kLane) || varying > 0) {
    result.kind = ConversionKind::kShuffle;
    result.shuffles_per_register = 1 << varying;
    return result;
  }
  result.kind = register_map_is_identity(pull) ? ConversionKind::kNone : ConversionKind::kRegisters;
  return result;
}

int contiguous_register_bits(const LinearLayout& distributed, const LinearLayout& memory,
                             int max_bits) {
  LinearLayout offsets = distributed.then(memory.inverse());
  int limit = std::min(max_bits, offsets.in().bits(Dim::kRegister));
  int bits = 0;
  while (bits < limit && offsets.basis_of(Dim::kRegister, bits) == uint64_t{1} << bits) ++bits;
  // An access of 2^bits elements must start at a multiple of that for every thread.
  uint64_t seen = 0;
  for (size_t i = 0; i < offsets.basis().size(); ++i) {
    int own = static_cast<int>(i) - offsets.in().offset(Dim::kRegister);
    if (own < 0 || own >= bits) seen |= offsets.basis()[i];
  }
  while (bits > 0 && (seen & ((uint64_t{1} << bits) - 1)) != 0) --bits;
  return bits;
}

SharedLayout choose_shared_layout(const LinearLayout& writer, const LinearLayout& reader,
                                  const SharedMemory& shared) {
  const Space& tile = writer.out();
  const int tile_bits = tile.bits();
  const int max_vector = log2_of(std::max(1, shared.max_vector_bytes / shared.element_bytes));
  std::vector<uint64_t> writer_registers = images(writer, Dim::kRegister, 64, tile);
  std::vector<uint64_t> reader_registers = images(reader, Dim::kRegister, 64, tile);
  std::vector<uint64_t> vector = intersection(writer_registers, reader_registers);
  if (static_cast<int>(vector.size()) > max_vector) vector.resize(static_cast<size_t>(max_vector));
  const int vector_bits = static_cast<int>(vector.size());
  const int64_t step_bytes = int64_t{shared.banks} * shared.bank_bytes;
  const int bank_bits =
      std::max(0, log2_of(step_bytes / (int64_t{shared.element_bytes} << vector_bits)));
  std::vector<uint64_t> writer_lanes = images(writer, Dim::kLane, bank_bits, tile);
  std::vector<uint64_t> reader_lanes = images(reader, Dim::kLane, bank_bits, tile);
  // Vectors narrower than a bank's word share it; lanes that differ by such a direction meet in one
  // word, which is no conflict.
  std::vector<uint64_t> word = vector;
  const int word_bits = log2_of(std::max(1, shared.bank_bytes / shared.element_bytes));
  std::vector<uint64_t> candidates = intersection(writer_lanes, reader_lanes);
  std::vector<uint64_t> units = unit_columns(tile_bits);
  candidates.insert(candidates.end(), units.begin(), units.end());
  ColumnBasis in_word = basis_of(vector);
  for (uint64_t column : candidates)
    if (static_cast<int>(word.size()) < word_bits && in_word.insert(column, 0))
      word.push_back(column);
  std::vector<uint64_t> rows = conflict_free_rows(word, writer_lanes, reader_lanes, tile_bits,
                                                  std::max(0, tile_bits - vector_bits - bank_bits));
  // Offsets: the vector lowest, then the banks (whatever completes the space), then the rows.
  ColumnBasis taken = basis_of(word);
  extend(taken, rows);
  std::vector<uint64_t> basis = word;
  std::vector<uint64_t> banks = extend(taken, unit_columns(tile_bits));
  basis.insert(basis.end(), banks.begin(), banks.end());
  basis.insert(basis.end(), rows.begin(), rows.end());
  return {LinearLayout(Space{{Dim::kOffset, tile_bits}}, tile, std::move(basis)), vector_bits};
}

int bank_conflicts(const LinearLayout& distributed, const SharedLayout& placement,
                   const SharedMemory& shared) {
  LinearLayout offsets = distributed.then(placement.memory.inverse());
  const int64_t vector_bytes = int64_t{shared.element_bytes} << placement.vector_bits;
  const int64_t lanes_in_step = std::max<int64_t>(
      1, std::min<int64_t>(
             offsets.in().bits(Dim::kLane) ? int64_t{1} << offsets.in().bits(Dim::kLane) : 1,
             int64_t{shared.banks} * shared.bank_bytes / vector_bytes));
  int worst = 1;
  const int64_t positions = offsets.in().size();
  // Lanes of one step differ in the low lane bits only; everything else is fixed.
  uint64_t step_mask = static_cast<uint64_t>(lanes_in_step - 1)
                       << (offsets.in().has(Dim::kLane) ? offsets.in().offset(Dim::kLane) : 0);
  for (uint64_t fixed = 0; fixed < static_cast<uint64_t>(positions); ++fixed) {
    if (fixed & step_mask) continue;
    std::map<int64_t, std::set<int64_t>> words;  // of each bank
    for (uint64_t lane = step_mask;; lane = (lane - 1) & step_mask) {
      auto offset = static_cast<int64_t>(offsets.apply(fixed | lane));
      int64_t word = (offset >> placement.vector_bits) * vector_bytes / shared.bank_bytes;
      words[word % shared.banks].insert(word);
      if (lane == 0) break;
    }
    for (const auto& [bank, distinct] : words)
      worst = std::max(worst, static_cast<int>(distinct.size()));
  }
  return worst;
}

}  // namespace enceladus::layout

// C expressions of linear maps over the bits of an index: `(lane & 3) << 4`, `r >> 2`. Not: the
// layouts that the maps come from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace enceladus::codegen {

// The exclusive or of the bases whose bit of `index` is set, as an expression that binds tighter
// than `+`, or an empty string where it is always 0. `index` is an identifier or parenthesized.
// Runs of bits that move together become one shift. Terms whose bits overlap are joined by `^`,
// others by `|`, in parentheses.
std::string bit_map(const std::string& index, std::span<const int64_t> bases);

// The union of the bases' bits, and whether every two have none in common.
int64_t bits_of(std::span<const int64_t> bases);
bool are_disjoint(std::span<const int64_t> bases);

// Joins two such expressions of which either may be empty; `0` where both are.
std::string join_bits(const std::string& a, const std::string& b, bool disjoint);

// The bases of a map of 2^n entries where it is linear (map[0] is 0); empty optional otherwise.
bool linear_bases(std::span<const int64_t> map, std::vector<int64_t>& bases);

}  // namespace enceladus::codegen

#include "layout/linear_layout.h"

#include <algorithm>
#include <array>
#include <bit>

#include "layout/gf2.h"
#include "support/check.h"

namespace enceladus::layout {
namespace {

int log2_exact(int64_t size) {
  ENC_CHECK(size > 0 && std::has_single_bit(static_cast<uint64_t>(size)));
  return std::countr_zero(static_cast<uint64_t>(size));
}

uint64_t low_mask(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// Dimensions of `first`, then those that only `second` has; bits added up.
Space join(const Space& first, const Space& second) {
  std::vector<Space::Part> parts;
  for (const Space::Part& part : first.parts())
    parts.push_back({part.dim, part.bits + second.bits(part.dim)});
  for (const Space::Part& part : second.parts())
    if (!first.has(part.dim)) parts.push_back(part);
  return Space(std::move(parts));
}

// Moves each dimension of a number packed by `from` to its place in `to`, `shift(dim)` bits up.
template <typename Shift>
uint64_t repack(uint64_t packed, const Space& from, const Space& to, const Shift& shift) {
  uint64_t result = 0;
  for (const Space::Part& part : from.parts()) {
    uint64_t value = static_cast<uint64_t>(from.coordinate(packed, part.dim));
    if (value) result |= value << (to.offset(part.dim) + shift(part.dim));
  }
  return result;
}

uint64_t repack(uint64_t packed, const Space& from, const Space& to) {
  return repack(packed, from, to, [](Dim) { return 0; });
}

Space select(const Space& space, std::span<const Dim> dims) {
  std::vector<Space::Part> parts;
  for (Dim dim : dims)
    if (space.has(dim)) parts.push_back({dim, space.bits(dim)});
  return Space(std::move(parts));
}

}  // namespace

std::string to_string(Dim dim) {
  constexpr std::array kNames = {"register", "lane", "warp", "offset"};
  size_t index = static_cast<size_t>(dim);
  if (index < kNames.size()) return kNames[index];
  return "axis" + std::to_string(index - static_cast<size_t>(Dim::kAxis0));
}

Space Space::tile(std::span<const int64_t> shape) {
  std::vector<Part> parts;
  for (size_t axis = shape.size(); axis-- > 0;)
    parts.push_back({axis_dim(static_cast<int>(axis)), log2_exact(shape[axis])});
  return Space(std::move(parts));
}

int Space::bits() const {
  int sum = 0;
  for (const Part& part : parts_) sum += part.bits;
  return sum;
}

int Space::bits(Dim dim) const {
  for (const Part& part : parts_)
    if (part.dim == dim) return part.bits;
  return 0;
}

int Space::offset(Dim dim) const {
  int sum = 0;
  for (const Part& part : parts_) {
    if (part.dim == dim) return sum;
    sum += part.bits;
  }
  ENC_CHECK(false, "no dimension " + to_string(dim));
  return 0;
}

bool Space::has(Dim dim) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& p) { return p.dim == dim; });
}

uint64_t Space::mask(Dim dim) const { return has(dim) ? low_mask(bits(dim)) << offset(dim) : 0; }

uint64_t Space::pack(std::span<const std::pair<Dim, int64_t>> coordinates) const {
  uint64_t packed = 0;
  for (const auto& [dim, value] : coordinates) {
    ENC_CHECK((static_cast<uint64_t>(value) & ~low_mask(bits(dim))) == 0);
    if (value) packed |= static_cast<uint64_t>(value) << offset(dim);
  }
  return packed;
}

int64_t Space::coordinate(uint64_t packed, Dim dim) const {
  if (!has(dim)) return 0;
  return static_cast<int64_t>(packed >> offset(dim) & low_mask(bits(dim)));
}

LinearLayout::LinearLayout(Space in, Space out, std::vector<uint64_t> basis)
    : in_(std::move(in)), out_(std::move(out)), basis_(std::move(basis)) {
  ENC_CHECK(static_cast<int>(basis_.size()) == in_.bits());
  for (uint64_t image : basis_) ENC_CHECK((image & ~low_mask(out_.bits())) == 0);
}

LinearLayout LinearLayout::identity(Dim in, Dim out, int bits) {
  std::vector<uint64_t> basis;
  for (int bit = 0; bit < bits; ++bit) basis.push_back(uint64_t{1} << bit);
  return LinearLayout(Space{{in, bits}}, Space{{out, bits}}, std::move(basis));
}

LinearLayout LinearLayout::copies(Dim in, int bits) {
  return LinearLayout(Space{{in, bits}}, Space{}, std::vector<uint64_t>(static_cast<size_t>(bits)));
}

uint64_t LinearLayout::basis_of(Dim dim, int bit) const {
  return basis_[static_cast<size_t>(in_.offset(dim) + bit)];
}

uint64_t LinearLayout::apply(uint64_t packed_input) const {
  uint64_t result = 0;
  for (uint64_t rest = packed_input; rest != 0; rest &= rest - 1)
    result ^= basis_[static_cast<size_t>(std::countr_zero(rest))];
  return result;
}

LinearLayout LinearLayout::operator*(const LinearLayout& outer) const {
  Space in = join(in_, outer.in_);
  Space out = join(out_, outer.out_);
  std::vector<uint64_t> basis;
  for (const Space::Part& part : in.parts()) {
    for (int bit = 0; bit < in_.bits(part.dim); ++bit)
      basis.push_back(repack(basis_of(part.dim, bit), out_, out));
    for (int bit = 0; bit < outer.in_.bits(part.dim); ++bit)
      basis.push_back(repack(outer.basis_of(part.dim, bit), outer.out_, out,
                             [&](Dim dim) { return out_.bits(dim); }));
  }
  return LinearLayout(std::move(in), std::move(out), std::move(basis));
}

namespace {

// The part of `layout` above (`upper`) or below the given numbers of bits of each dimension, none
// where a basis vector of that part has bits on the other side.
std::optional<LinearLayout> split_off(const LinearLayout& layout, const Space& in_cut,
                                      const Space& out_cut, bool upper) {
  auto remaining = [&](const Space& whole, const Space& cut) {
    std::vector<Space::Part> parts;
    for (const Space::Part& part : whole.parts()) {
      int low = cut.bits(part.dim);
      parts.push_back({part.dim, upper ? part.bits - low : low});
    }
    return Space(std::move(parts));
  };
  Space in = remaining(layout.in(), in_cut), out = remaining(layout.out(), out_cut);
  std::vector<uint64_t> basis;
  for (const Space::Part& part : layout.in().parts()) {
    int low = in_cut.bits(part.dim);
    for (int bit = upper ? low : 0; bit < (upper ? part.bits : low); ++bit) {
      uint64_t image = 0;
      for (const Space::Part& target : layout.out().parts()) {
        int cut = out_cut.bits(target.dim);
        auto value = static_cast<uint64_t>(
            layout.out().coordinate(layout.basis_of(part.dim, bit), target.dim));
        if (upper ? (value & low_mask(cut)) != 0 : value >> cut != 0) return std::nullopt;
        uint64_t kept = upper ? value >> cut : value;
        if (kept) image |= kept << out.offset(target.dim);
      }
      basis.push_back(image);
    }
  }
  return LinearLayout(std::move(in), std::move(out), std::move(basis));
}

bool fits(const Space& part, const Space& whole) {
  return std::all_of(part.parts().begin(), part.parts().end(),
                     [&](const Space::Part& p) { return p.bits <= whole.bits(p.dim); });
}

Space without_empty(const Space& space) {
  std::vector<Space::Part> parts;
  for (const Space::Part& part : space.parts())
    if (part.bits > 0) parts.push_back(part);
  return Space(std::move(parts));
}

Space minus(const Space& whole, const Space& part) {
  std::vector<Space::Part> parts;
  for (const Space::Part& p : whole.parts()) parts.push_back({p.dim, p.bits - part.bits(p.dim)});
  return Space(std::move(parts));
}

LinearLayout compact(const LinearLayout& layout) {
  return LinearLayout(without_empty(layout.in()), without_empty(layout.out()),
                      {layout.basis().begin(), layout.basis().end()});
}

// Equal as maps, whatever the order of their dimensions.
bool same_map(const LinearLayout& a, const LinearLayout& b) {
  LinearLayout left = compact(a), right = compact(b);
  auto names = [](const Space& space) {
    std::vector<Dim> dims;
    for (const Space::Part& part : space.parts()) dims.push_back(part.dim);
    return dims;
  };
  if (left.in().parts().size() != right.in().parts().size() ||
      left.out().parts().size() != right.out().parts().size())
    return false;
  if (!fits(left.in(), right.in()) || !fits(left.out(), right.out())) return false;
  return left == right.with_in_order(names(left.in())).with_out_order(names(left.out()));
}

}  // namespace

std::optional<LinearLayout> LinearLayout::divide_inner(const LinearLayout& inner) const {
  if (!fits(inner.in_, in_) || !fits(inner.out_, out_)) return std::nullopt;
  std::optional<LinearLayout> low = split_off(*this, inner.in_, inner.out_, false);
  std::optional<LinearLayout> high = split_off(*this, inner.in_, inner.out_, true);
  if (!low || !high || !same_map(*low, inner)) return std::nullopt;
  return high;
}

std::optional<LinearLayout> LinearLayout::divide_outer(const LinearLayout& outer) const {
  if (!fits(outer.in_, in_) || !fits(outer.out_, out_)) return std::nullopt;
  Space in_cut = minus(in_, outer.in_), out_cut = minus(out_, outer.out_);
  std::optional<LinearLayout> low = split_off(*this, in_cut, out_cut, false);
  std::optional<LinearLayout> high = split_off(*this, in_cut, out_cut, true);
  if (!low || !high || !same_map(*high, outer)) return std::nullopt;
  return low;
}

LinearLayout LinearLayout::then(const LinearLayout& next) const {
  ENC_CHECK(fits(out_, next.in_) && out_.bits() <= next.in_.bits());
  std::vector<uint64_t> basis;
  for (uint64_t image : basis_) basis.push_back(next.apply(repack(image, out_, next.in_)));
  return LinearLayout(in_, next.out_, std::move(basis));
}

int LinearLayout::rank() const { return layout::rank(basis_); }

LinearLayout LinearLayout::inverse() const {
  ColumnBasis columns;
  for (size_t i = 0; i < basis_.size(); ++i) columns.insert(basis_[i], static_cast<int>(i));
  std::vector<uint64_t> basis;
  for (int bit = 0; bit < out_.bits(); ++bit) {
    std::optional<uint64_t> solution = columns.solve(uint64_t{1} << bit);
    ENC_CHECK(solution.has_value(), "the layout is not surjective");
    basis.push_back(*solution);
  }
  return LinearLayout(out_, in_, std::move(basis));
}

LinearLayout LinearLayout::pull_from(const LinearLayout& source) const {
  // Positions of the source, the free ones included: a solution may add any combination of input
  // bits that holds the zero element, which is what lets a copy in the right lane be chosen.
  ColumnBasis columns;
  std::vector<uint64_t> kernel;
  for (size_t i = 0; i < source.basis_.size(); ++i) {
    if (columns.insert(source.basis_[i], static_cast<int>(i))) continue;
    kernel.push_back(uint64_t{1} << i | *columns.solve(source.basis_[i]));
  }
  uint64_t place_mask = source.in_.mask(Dim::kLane) | source.in_.mask(Dim::kWarp);
  ColumnBasis kernel_places;
  for (size_t i = 0; i < kernel.size(); ++i)
    kernel_places.insert(kernel[i] & place_mask, static_cast<int>(i));
  std::vector<uint64_t> basis;
  for (const Space::Part& part : in_.parts()) {
    for (int bit = 0; bit < part.bits; ++bit) {
      uint64_t image = repack(basis_of(part.dim, bit), out_, source.out_);
      std::optional<uint64_t> solution = columns.solve(image);
      ENC_CHECK(solution.has_value(), "the source does not hold every element");
      // Where this bit should be found: in its own lane and warp, where the source has them.
      uint64_t wished = 0;
      bool is_place = part.dim == Dim::kLane || part.dim == Dim::kWarp;
      if (is_place && source.in_.bits(part.dim) > bit)
        wished = uint64_t{1} << (source.in_.offset(part.dim) + bit);
      if (auto mend = kernel_places.solve((*solution & place_mask) ^ wished)) {
        for (size_t i = 0; i < kernel.size(); ++i)
          if (*mend >> i & 1) *solution ^= kernel[i];
      }
      basis.push_back(*solution);
    }
  }
  return LinearLayout(in_, source.in_, std::move(basis));
}

uint64_t LinearLayout::free_bits() const {
  ColumnBasis columns;
  uint64_t free = 0;
  for (size_t i = 0; i < basis_.size(); ++i)
    if (!columns.insert(basis_[i], static_cast<int>(i))) free |= uint64_t{1} << i;
  return free;
}

int64_t LinearLayout::free_bits(Dim dim) const { return in_.coordinate(free_bits(), dim); }

LinearLayout LinearLayout::restrict_in(std::span<const Dim> dims) const {
  Space in = select(in_, dims);
  std::vector<uint64_t> basis;
  for (const Space::Part& part : in.parts())
    for (int bit = 0; bit < part.bits; ++bit) basis.push_back(basis_of(part.dim, bit));
  return LinearLayout(std::move(in), out_, std::move(basis));
}

LinearLayout LinearLayout::restrict_out(std::span<const Dim> dims) const {
  Space out = select(out_, dims);
  std::vector<uint64_t> basis;
  for (uint64_t image : basis_) {
    uint64_t kept = 0;
    for (const Space::Part& part : out.parts())
      kept |= static_cast<uint64_t>(out_.coordinate(image, part.dim)) << out.offset(part.dim);
    basis.push_back(kept);
  }
  return LinearLayout(in_, std::move(out), std::move(basis));
}

LinearLayout LinearLayout::with_out_order(std::span<const Dim> dims) const {
  Space out = select(out_, dims);
  ENC_CHECK(out.bits() == out_.bits());
  std::vector<uint64_t> basis;
  for (uint64_t image : basis_) basis.push_back(repack(image, out_, out));
  return LinearLayout(in_, std::move(out), std::move(basis));
}

LinearLayout LinearLayout::with_in_order(std::span<const Dim> dims) const {
  ENC_CHECK(select(in_, dims).bits() == in_.bits());
  return restrict_in(dims);
}

LinearLayout LinearLayout::with_out_space(Space out) const {
  ENC_CHECK(out.bits() == out_.bits());
  return LinearLayout(in_, std::move(out), basis_);
}

LinearLayout LinearLayout::renamed_out(std::span<const std::pair<Dim, Dim>> names) const {
  std::vector<Space::Part> parts(out_.parts().begin(), out_.parts().end());
  for (Space::Part& part : parts) {
    for (const auto& [from, to] : names) {
      if (part.dim != from) continue;
      part.dim = to;
      break;
    }
  }
  return LinearLayout(in_, Space(std::move(parts)), basis_);
}

std::string to_string(const LinearLayout& layout) {
  std::string text;
  for (const Space::Part& part : layout.in().parts()) {
    text += to_string(part.dim) + ":";
    for (int bit = 0; bit < part.bits; ++bit) {
      text += bit ? ", (" : " (";
      bool first = true;
      for (const Space::Part& target : layout.out().parts()) {
        if (!first) text += ", ";
        first = false;
        text += std::to_string(layout.out().coordinate(layout.basis_of(part.dim, bit), target.dim));
      }
      text += ")";
    }
    text += "\n";
  }
  return text;
}

}  // namespace enceladus::layout

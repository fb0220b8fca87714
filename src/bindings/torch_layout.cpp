#include "bindings/torch_layout.h"

#include <algorithm>
#include <vector>

namespace nb = nanobind;

namespace enceladus {
namespace {

constexpr size_t kWord = 8;
// Of torch's object, which has had at least 23 words in every release with an exchange API.
constexpr size_t kInnerBytes = 23 * kWord;

// A tensor with what torch says of it.
struct Sample {
  nb::object tensor;
  uint64_t inner;
  uint64_t keys;
  bool is_negated;
};

Sample sample(nb::handle torch, const nb::object& tensor) {
  return {.tensor = tensor,
          .inner = nb::cast<uint64_t>(tensor.attr("_cdata")),
          .keys = nb::cast<uint64_t>(
              torch.attr("_C").attr("_dispatch_keys")(tensor).attr("raw_repr")()),
          .is_negated = nb::cast<bool>(tensor.attr("is_neg")())};
}

// Their keys differ in what is lazy (nothing, conjugation, negation); their classes, types and
// layouts in the rest.
std::vector<Sample> make_samples(nb::handle torch) {
  const auto zeros = [&](const char* dtype) {
    return torch.attr("zeros")(nb::make_tuple(2, 3), nb::arg("dtype") = torch.attr(dtype),
                               nb::arg("device") = "cpu");
  };
  const nb::object real = zeros("float32");
  const nb::object conjugated = zeros("complex64").attr("conj")();
  const nb::object negated = conjugated.attr("imag");
  std::vector<Sample> samples;
  for (const nb::object& tensor :
       {real, nb::object(real.attr("T")), nb::object(zeros("int64")), conjugated, negated,
        nb::object(negated.attr("T")), nb::object(conjugated.attr("real")),
        nb::object(torch.attr("nn").attr("Parameter")(real))})
    samples.push_back(sample(torch, tensor));
  return samples;
}

uint64_t word_at(uint64_t address) {
  uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof(word));
  return word;
}

// The first offset at which every sample has its own expected word.
template <class Base, class Expected>
std::optional<size_t> find_offset(const std::vector<Sample>& samples, size_t bytes, Base base,
                                  Expected expected) {
  for (size_t offset = 0; offset + kWord <= bytes; offset += kWord)
    if (std::all_of(samples.begin(), samples.end(),
                    [&](const Sample& s) { return word_at(base(s) + offset) == expected(s); }))
      return offset;
  return std::nullopt;
}

// The bit that all negated samples have and no other one; 0 where that is not one bit.
uint64_t negation_mask(const std::vector<Sample>& samples) {
  uint64_t common = ~uint64_t{0};
  uint64_t others = 0;
  for (const Sample& s : samples) {
    if (s.is_negated)
      common &= s.keys;
    else
      others |= s.keys;
  }
  const uint64_t mask = common & ~others;
  return (mask & (mask - 1)) == 0 ? mask : 0;
}

}  // namespace

std::optional<NegationBit> NegationBit::find(nb::handle torch) try {
  const std::vector<Sample> samples = make_samples(torch);
  const std::optional<size_t> inner = find_offset(
      samples, static_cast<size_t>(Py_TYPE(samples.front().tensor.ptr())->tp_basicsize),
      [](const Sample& s) { return reinterpret_cast<uint64_t>(s.tensor.ptr()); },
      [](const Sample& s) { return s.inner; });
  if (!inner) return std::nullopt;
  const std::optional<size_t> keys = find_offset(
      samples, kInnerBytes, [](const Sample& s) { return s.inner; },
      [](const Sample& s) { return s.keys; });
  const uint64_t mask = negation_mask(samples);
  if (!keys || mask == 0) return std::nullopt;
  NegationBit bit;
  bit.inner_offset_ = *inner;
  bit.keys_offset_ = *keys;
  bit.mask_ = mask;
  return bit;
} catch (nb::python_error&) {
  return std::nullopt;
} catch (nb::cast_error&) {
  return std::nullopt;
}

}  // namespace enceladus

#include "codegen/cuda/access_prelude.h"

namespace enceladus::cuda {
namespace {

std::string with_hint(std::string_view name, std::string_view hint) {
  return "enc_" + std::string(name) + (hint.empty() ? "" : "_") + std::string(hint);
}

// The words that an instruction with a hint moves: their C type, PTX type, and how many parts.
struct HintedWord {
  std::string_view type, ptx;
  char constraint;
  int parts;
};
constexpr HintedWord kHintedWords[] = {{"uchar", "u8", 'h', 1},
                                       {"ushort", "u16", 'h', 1},
                                       {"uint", "u32", 'r', 1},
                                       {"uint2", "v2.u32", 'r', 2},
                                       {"uint4", "v4.u32", 'r', 4}};

// `{%0, %1}`, or `%0` for one.
std::string places(int from, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i ? ", %" : "%") + std::to_string(from + i);
  return count == 1 ? text : "{" + text + "}";
}

std::string parts_of(const HintedWord& word, std::string_view prefix) {
  std::string text;
  for (int i = 0; i < word.parts; ++i)
    text += std::string(i ? ", " : "") + "\"" + std::string(prefix) + word.constraint + "\"(word" +
            (word.parts == 1 ? "" : std::string(".") + "xyzw"[i]) + ")";
  return text;
}

// PTX has 16 bits at least in a register: bytes pass through a ushort.
std::string register_type(const HintedWord& word) {
  return word.type == "uchar" ? "ushort" : std::string(word.type);
}

// The instructions stay where they are: the compiler sees no memory in them.
std::string qualifier(std::string_view hint) {
  return (hint.starts_with("evict_") ? "L1::" : "") + std::string(hint);
}

std::string hinted_load(std::string_view hint) {
  std::string text;
  for (const HintedWord& word : kHintedWords) {
    std::string type(word.type);
    text += "__device__ inline " + type + " enc_ld_" + std::string(hint) + "(const " + type +
            "* p) {\n  " + register_type(word) + " word;\n  asm volatile(\"ld.global." +
            qualifier(hint) + "." + std::string(word.ptx) + " " + places(0, word.parts) + ", [%" +
            std::to_string(word.parts) + "];\" : " + parts_of(word, "=") +
            " : \"l\"(p) : \"memory\");\n  return word;\n}\n";
  }
  return text;
}

std::string hinted_store(std::string_view hint) {
  std::string text;
  for (const HintedWord& word : kHintedWords) {
    text += "__device__ inline void enc_st_" + std::string(hint) + "(" + std::string(word.type) +
            "* p, " + register_type(word) + " word) {\n  asm volatile(\"st.global." +
            qualifier(hint) + "." + std::string(word.ptx) + " [%0], " + places(1, word.parts) +
            ";\" : : \"l\"(p), " + parts_of(word, "") + " : \"memory\");\n}\n";
  }
  return text;
}

}  // namespace

std::string load_name(std::string_view hint) { return with_hint("load", hint); }
std::string store_name(std::string_view hint) { return with_hint("store", hint); }

// Also in a form that leaves memory alone where the mask is false.
std::string load_text(std::string_view hint) {
  std::string word = hint.empty() ? "*(const W*)p" : with_hint("ld", hint) + "((const W*)p)";
  std::string head = "template <int N, typename T>\n__device__ inline void " + load_name(hint) +
                     "(T* registers, const T* p";
  std::string type = ") {\n  typedef typename Word<N * sizeof(T)>::type W;\n";
  return (hint.empty() ? "" : hinted_load(hint)) + head + type + "  W word = " + word +
         ";\n  memcpy(registers, &word, sizeof(W));\n}\n" + head + ", bool mask, T other" + type +
         "  T others[N];\n#pragma unroll\n  for (int i = 0; i < N; ++i) others[i] = other;\n"
         "  W word;\n  memcpy(&word, others, sizeof(W));\n  if (mask) word = " +
         word + ";\n  memcpy(registers, &word, sizeof(W));\n}\n";
}

std::string store_text(std::string_view hint) {
  std::string statement = hint.empty() ? "*(W*)p = word" : with_hint("st", hint) + "((W*)p, word)";
  return (hint.empty() ? "" : hinted_store(hint)) +
         "template <int N, typename T>\n__device__ inline void " + store_name(hint) +
         "(T* p, const T* registers) {\n  typedef typename Word<N * sizeof(T)>::type W;\n"
         "  W word;\n  memcpy(&word, registers, sizeof(W));\n  " +
         statement + ";\n}\n";
}

}  // namespace enceladus::cuda

// The helper functions behind loads and stores: N neighbouring elements of an aligned address to or
// from registers, as one word, with the cache hints of the language. Not: which access has which
// hints (memory_emitter.cpp).
#pragma once

#include <string>
#include <string_view>

namespace enceladus::cuda {

// By hint: empty, `cg`, `cs`, `cv` (loads), `wt` (stores), `evict_first`, `evict_last`.
std::string load_name(std::string_view hint);  // `enc_load_cg`
std::string load_text(std::string_view hint);
std::string store_name(std::string_view hint);
std::string store_text(std::string_view hint);

}  // namespace enceladus::cuda

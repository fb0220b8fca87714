#include "simulator/kernel_log.h"

#include <bit>
#include <cstdio>
#include <cstring>

namespace enceladus::simulator {
namespace {

template <class T>
std::string print(const std::string& conversion, T value) {
  char text[128];
  std::snprintf(text, sizeof text, conversion.c_str(), value);
  return text;
}

// Flags, width and precision are kept; lengths are dropped, since every integer has 64 bits.
std::string format_one(std::string flags, char kind, bool is_long, uint64_t value) {
  std::erase_if(flags, [](char c) { return c == 'l' || c == 'h' || c == 'z'; });
  switch (kind) {
    case 'd':
    case 'i':
      return print(flags + "lld", static_cast<long long>(value));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (!is_long) value &= 0xffffffff;
      return print(flags + "ll" + kind, static_cast<unsigned long long>(value));
    case 'c':
      return print(flags + "c", static_cast<int>(value));
    default: {
      double number = std::bit_cast<float>(static_cast<uint32_t>(value));
      return print(flags + kind, number);
    }
  }
}

}  // namespace

std::string format_log(const char* format, std::span<const uint64_t> values) {
  std::string out;
  size_t next = 0;
  for (const char* at = format; *at != '\0';) {
    if (*at != '%') {
      out += *at++;
      continue;
    }
    if (at[1] == '%') {
      out += '%';
      at += 2;
      continue;
    }
    size_t length = 1 + std::strspn(at + 1, "+-#0 .123456789lhz");
    char kind = at[length];
    std::string flags(at, length);
    bool known = kind != '\0' && std::strchr("diuxXocfFeEgGaA", kind) != nullptr;
    if (!known || next >= values.size()) {
      out += flags;
      at += length;
      continue;
    }
    out += format_one(flags, kind, flags.find('l') != std::string::npos, values[next++]);
    at += length + 1;
  }
  return out;
}

}  // namespace enceladus::simulator

#include "simulator/memory_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace enceladus::simulator {
namespace {

TEST(MemoryMap, a_last_word_may_be_touched_but_what_lies_behind_the_array_is_left_alone) {
  alignas(4) std::array<uint8_t, 4> memory = {1, 2, 3, 4};
  const BoundMemory array = {.data = memory.data(), .bytes = 3, .whole_words = true};
  MemoryMap map;
  map.build({&array, 1}, {});
  const uintptr_t address = map.address_of_bound(0);
  EXPECT_NE(map.find(address, 4), nullptr);
  EXPECT_EQ(map.find(address + 4, 1), nullptr);
  EXPECT_NE(reinterpret_cast<const uint8_t*>(address)[3], 4);
  std::memset(reinterpret_cast<void*>(address), 9, 4);
  memory[3] = 7;  // by somebody else meanwhile
  map.copy_back();
  EXPECT_EQ(memory, (std::array<uint8_t, 4>{9, 9, 9, 7}));
}

TEST(MemoryMap, without_whole_words_an_array_ends_at_its_last_byte) {
  std::array<uint8_t, 3> memory = {};
  const BoundMemory array = {.data = memory.data(), .bytes = 3};
  MemoryMap map;
  map.build({&array, 1}, {});
  EXPECT_NE(map.find(map.address_of_bound(0), 3), nullptr);
  EXPECT_EQ(map.find(map.address_of_bound(0), 4), nullptr);
}

}  // namespace
}  // namespace enceladus::simulator

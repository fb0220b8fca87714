#include "runtime/metal/address_map.h"

#include <gtest/gtest.h>

namespace enceladus::metal {
namespace {

const Id kOne = reinterpret_cast<Id>(0x1000), kOther = reinterpret_cast<Id>(0x2000);

TEST(AddressMap, finds_the_buffer_that_holds_an_address) {
  AddressMap map;
  EXPECT_TRUE(map.insert(100, 50, kOne));
  EXPECT_TRUE(map.insert(150, 50, kOther));
  EXPECT_EQ(map.find(99), std::nullopt);
  EXPECT_EQ(map.find(149)->buffer, kOne);
  EXPECT_EQ(map.find(149)->offset, 49u);
  EXPECT_EQ(map.find(150)->buffer, kOther);
  EXPECT_EQ(map.find(200)->offset, 50u);  // the end, where an empty view lies
  EXPECT_EQ(map.find(201), std::nullopt);
}

TEST(AddressMap, addresses_of_another_buffer_are_refused) {
  AddressMap map;
  EXPECT_TRUE(map.insert(100, 50, kOne));
  EXPECT_FALSE(map.insert(100, 50, kOther));
  EXPECT_FALSE(map.insert(149, 1, kOther));
  EXPECT_FALSE(map.insert(90, 11, kOther));
  EXPECT_TRUE(map.insert(90, 10, kOther));
}

TEST(AddressMap, a_buffer_stays_until_it_was_erased_as_often_as_it_came) {
  AddressMap map;
  EXPECT_TRUE(map.insert(100, 50, kOne));
  EXPECT_TRUE(map.insert(100, 50, kOne));
  map.erase(100);
  EXPECT_EQ(map.find(120)->buffer, kOne);
  map.erase(100);
  EXPECT_EQ(map.find(120), std::nullopt);
  EXPECT_TRUE(map.insert(100, 50, kOther));
}

}  // namespace
}  // namespace enceladus::metal

// The bytes that name a specialization: options, facts about run-time arguments, values of
// constexprs. Two launches of a kernel share compiled code exactly when their bytes are equal.
// Built on the stack at each launch; only long keys reach the heap.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace enceladus {

class KeyWriter {
 public:
  KeyWriter() = default;
  KeyWriter(const KeyWriter&) = delete;
  KeyWriter& operator=(const KeyWriter&) = delete;

  void byte(uint8_t value) { *reserve(1) = static_cast<char>(value); }
  void bytes(uint8_t first, uint8_t second, uint8_t third) {
    char* place = reserve(3);
    place[0] = static_cast<char>(first);
    place[1] = static_cast<char>(second);
    place[2] = static_cast<char>(third);
  }
  void word(uint64_t value) { std::memcpy(reserve(8), &value, 8); }
  void text(std::string_view value) {
    word(value.size());
    std::memcpy(reserve(value.size()), value.data(), value.size());
  }
  // Changes a byte already written.
  void patch(size_t position, uint8_t value) { data_[position] = static_cast<char>(value); }
  size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }

 private:
  char* reserve(size_t bytes) {
    if (size_ + bytes > capacity_) [[unlikely]]
      grow(size_ + bytes);
    char* place = data_ + size_;
    size_ += bytes;
    return place;
  }
  void grow(size_t needed) {
    std::vector<char> larger(2 * needed);
    std::memcpy(larger.data(), data_, size_);
    heap_ = std::move(larger);
    data_ = heap_.data();
    capacity_ = heap_.size();
  }

  char stack_[384];
  char* data_ = stack_;
  size_t size_ = 0;
  size_t capacity_ = sizeof(stack_);
  std::vector<char> heap_;
};

}  // namespace enceladus

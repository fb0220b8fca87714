// Race cells: for every byte of threadgroup and device memory, who wrote it last and who has read
// it since, so that an access can be told to be ordered after them, or not. Knows neither regions
// nor reports.
//
// Order comes from epochs. A threadgroup barrier raises the threadgroup's epoch of the memory it
// names, a SIMD-group barrier that of the group. Epochs of threadgroups grow through the launch
// and are never reset, so that what an earlier threadgroup did is ordered before everything that a
// later one does to *threadgroup* memory. Two accesses are ordered if
//   - they are by the same thread, or
//   - in the same threadgroup and the threadgroup's epoch differs, or
//   - in the same SIMD group and the group's epoch differs.
// Device memory: accesses of different threadgroups are never ordered, but atomics are exempt from
// one another.
//
// A word of four bytes shares one cell as long as whole words are accessed; the first narrower
// access splits it into one cell a byte, a store of the whole word joins it again. Cells of bytes
// lie apart, so that they take no memory until a word is split.
#pragma once

#include <cstddef>
#include <cstdint>

namespace enceladus::simulator {

struct CellAccess {
  uint32_t threadgroup;  // linear index; always 0 for threadgroup memory
  uint32_t thread;       // in the threadgroup
  uint32_t epoch;        // of the threadgroup, from 1
  uint32_t simd_epoch;   // of the SIMD group
  uint32_t code;         // offset of the instruction in the kernel's image
  bool write;
  bool atomic;
  uint32_t first_epoch = 0;  // what was written before it counts as never written
};

struct Cell {
  uint32_t write_epoch;  // 0: never written
  uint32_t write_simd_epoch;
  uint32_t write_threadgroup;
  uint32_t write_code;
  uint32_t read_epoch;  // 0: not read since the last write
  uint32_t read_simd_epoch;
  uint32_t read_threadgroup;
  uint32_t read_code;
  uint16_t write_thread;
  uint16_t read_thread;
  uint16_t earlier_reader;  // another thread that read, where there was one
  bool write_atomic;
  bool many_readers;       // of the group, in its epoch
  bool many_read_groups;   // of the threadgroup, in its epoch
  bool many_threadgroups;  // have read
  bool split;              // on the first cell of a word: the others count, too
};

// What an access met that is not ordered before it.
struct Conflict {
  bool found = false;
  bool uninitialized = false;  // a load of what is not written since `first_epoch`
  bool with_write = false;
  uint32_t thread = 0;
  uint32_t threadgroup = 0;
  uint32_t code = 0;
};

// Notes an access of one cell and tells what it conflicts with.
Conflict touch(Cell& cell, const CellAccess& access);

// Cells of a range of memory whose start is a multiple of 4, allocated untouched.
class RaceCells {
 public:
  explicit RaceCells(size_t bytes);
  ~RaceCells();
  RaceCells(const RaceCells&) = delete;
  RaceCells& operator=(const RaceCells&) = delete;

  // Notes an access of [offset, offset + size) and gives the first conflict.
  Conflict access(size_t offset, size_t size, const CellAccess& access);

 private:
  static constexpr size_t kWord = 4;
  Conflict access_bytes(size_t word, size_t first, size_t count, const CellAccess& access);
  // The cell of a byte of a split word; that of the first byte is the word's own.
  Cell& byte_cell(size_t word, size_t byte) {
    return byte == 0 ? words_[word] : bytes_[word * (kWord - 1) + byte - 1];
  }

  size_t count_;  // words
  Cell* words_;
  Cell* bytes_;
};

}  // namespace enceladus::simulator

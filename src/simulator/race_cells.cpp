#include "simulator/race_cells.h"

#include <sys/mman.h>

#include <new>

#include "simulator/simd_operations.h"

namespace enceladus::simulator {
namespace {

constexpr size_t kWord = 4;

bool ordered_after_write(const Cell& cell, const CellAccess& access) {
  if (cell.write_epoch == 0 || (access.atomic && cell.write_atomic)) return true;
  if (cell.write_threadgroup != access.threadgroup) return false;
  if (cell.write_epoch != access.epoch || cell.write_thread == access.thread) return true;
  return cell.write_thread / kLanes == access.thread / kLanes &&
         cell.write_simd_epoch != access.simd_epoch;
}

bool ordered_after_reads(const Cell& cell, const CellAccess& access) {
  if (cell.read_epoch == 0) return true;
  if (cell.many_threadgroups || cell.read_threadgroup != access.threadgroup) return false;
  if (cell.read_epoch != access.epoch) return true;
  if (cell.many_read_groups || cell.read_thread / kLanes != access.thread / kLanes) return false;
  if (cell.read_simd_epoch != access.simd_epoch) return true;
  return !cell.many_readers && cell.read_thread == access.thread;
}

void note_write(Cell& cell, const CellAccess& access) {
  bool split = cell.split;
  cell = {};
  cell.split = split;
  cell.write_epoch = access.epoch;
  cell.write_simd_epoch = access.simd_epoch;
  cell.write_threadgroup = access.threadgroup;
  cell.write_code = access.code;
  cell.write_thread = static_cast<uint16_t>(access.thread);
  cell.write_atomic = access.atomic;
}

void note_read(Cell& cell, const CellAccess& access) {
  if (cell.read_epoch != 0 && cell.read_threadgroup != access.threadgroup) {
    cell.many_threadgroups = true;
  }
  bool same_threadgroup = cell.read_threadgroup == access.threadgroup;
  if (!same_threadgroup || cell.read_epoch != access.epoch) {
    cell.many_readers = cell.many_read_groups = false;
  } else if (cell.read_thread / kLanes != access.thread / kLanes) {
    cell.many_read_groups = true;
  } else if (cell.read_simd_epoch != access.simd_epoch) {
    cell.many_readers = false;
  } else if (cell.read_thread != access.thread) {
    cell.many_readers = true;
  }
  if (cell.read_thread != access.thread) cell.earlier_reader = cell.read_thread;
  cell.read_epoch = access.epoch;
  cell.read_simd_epoch = access.simd_epoch;
  cell.read_threadgroup = access.threadgroup;
  cell.read_code = access.code;
  cell.read_thread = static_cast<uint16_t>(access.thread);
}

void merge(Conflict& total, const Conflict& one) {
  bool uninitialized = total.uninitialized || one.uninitialized;
  if (!total.found) total = one;
  total.uninitialized = uninitialized;
}

}  // namespace

Conflict touch(Cell& cell, const CellAccess& access) {
  Conflict conflict;
  conflict.uninitialized = !access.write && cell.write_epoch < access.first_epoch;
  if (!ordered_after_write(cell, access)) {
    conflict.found = conflict.with_write = true;
    conflict.thread = cell.write_thread;
    conflict.threadgroup = cell.write_threadgroup;
    conflict.code = cell.write_code;
  } else if (access.write && !ordered_after_reads(cell, access)) {
    bool self = cell.read_thread == access.thread && cell.read_threadgroup == access.threadgroup;
    conflict.found = true;
    conflict.thread = self ? cell.earlier_reader : cell.read_thread;
    conflict.threadgroup = cell.read_threadgroup;
    conflict.code = cell.read_code;
  }
  if (access.write) {
    note_write(cell, access);
  } else if (!access.atomic) {
    note_read(cell, access);
  }
  return conflict;
}

RaceCells::RaceCells(size_t bytes) : count_(bytes / kWord + 2) {
  void* memory = mmap(nullptr, kWord * count_ * sizeof(Cell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  words_ = static_cast<Cell*>(memory);
  bytes_ = words_ + count_;
}

RaceCells::~RaceCells() { munmap(words_, kWord * count_ * sizeof(Cell)); }

Conflict RaceCells::access_bytes(size_t word, size_t first, size_t count,
                                 const CellAccess& access) {
  if (!words_[word].split) {
    for (size_t byte = 1; byte < kWord; ++byte) byte_cell(word, byte) = words_[word];
    words_[word].split = true;
  }
  Conflict conflict;
  for (size_t i = first; i < first + count; ++i) merge(conflict, touch(byte_cell(word, i), access));
  if (count == kWord && access.write) words_[word].split = false;
  return conflict;
}

Conflict RaceCells::access(size_t offset, size_t size, const CellAccess& access) {
  Conflict conflict;
  size_t end = offset + size;
  while (offset < end) {
    size_t word = offset / kWord, first = offset % kWord;
    size_t count = end - offset < kWord - first ? end - offset : kWord - first;
    bool whole = count == kWord && !words_[word].split;
    merge(conflict, whole ? touch(words_[word], access) : access_bytes(word, first, count, access));
    offset += count;
  }
  return conflict;
}

}  // namespace enceladus::simulator

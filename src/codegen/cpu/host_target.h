// What the machine code is for: the processor's name and features as LLVM knows them, and the few
// questions that the emitters ask (vector width, registers, special instructions). Made once for
// the host, or for a named processor so that tests can read the code of machines they do not run
// on. Not: how a tile is cut into vectors (the emitters decide that from these figures).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace llvm {
class TargetMachine;
}

namespace enceladus::cpu {

enum class Architecture { kX86, kArm64, kOther };

struct HostTarget {
  std::string triple;
  std::string cpu;       // LLVM's -mcpu name
  std::string features;  // LLVM's -mattr list, "+avx2,-avx512f,..."
  Architecture architecture = Architecture::kOther;
  int vector_bytes = 16;      // of the widest vector worth using: 16, 32 or 64
  int vector_registers = 16;  // of that width
  bool has_fma = false;
  bool has_float16_conversion = false;  // float16 to and from float32 in one instruction
  bool has_avx512_bfloat16 = false;     // vdpbf16ps
  bool has_avx512_vnni = false;         // vpdpbusd and vpdpwssd on 64-byte vectors
  bool has_avx_vnni = false;            // the same on 32-byte vectors
  bool has_amx_bfloat16 = false;        // tdpbf16ps, and leave to use it (host_target())
  bool has_amx_int8 = false;            // tdpbssd and its like, likewise

  // Lanes of a vector whose elements take `element_bytes`.
  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
};

// The machine this process runs on. Computed once, before the first kernel is loaded: Linux gives
// AMX to a process that asks for it; where it does not, the machine is described without AMX.
const HostTarget& host_target();
// The processor LLVM calls `cpu`, of this process's architecture ("znver4", "haswell", "x86-64").
HostTarget target_of_cpu(std::string_view cpu);
// A code generator for position-independent JIT code. Each caller owns its own: LLVM's target
// machines may not be shared between threads.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const HostTarget& target);

}  // namespace enceladus::cpu

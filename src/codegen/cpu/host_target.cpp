#include "codegen/cpu/host_target.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/TargetParser/Triple.h>

#include <mutex>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "support/check.h"

namespace enceladus::cpu {
namespace {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

// AMX keeps 8 KiB of state a thread, which Linux saves only for processes that asked. The answer
// holds for all threads, those that run already too, and for children. An older kernel, a filter of
// system calls or a signal stack too small for the state refuses; asking again changes nothing.
bool may_use_amx() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

std::string host_features() {
#if LLVM_VERSION_MAJOR >= 19
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
#else
  llvm::StringMap<bool> host;
  llvm::sys::getHostCPUFeatures(host);
#endif
  const auto tiles = host.find("amx-tile");
  const bool has_amx = tiles != host.end() && tiles->second && may_use_amx();
  llvm::SubtargetFeatures features;
  for (const auto& feature : host) {
    const bool is_usable = has_amx || !feature.first().starts_with("amx-");
    features.AddFeature(feature.first(), feature.second && is_usable);
  }
  return features.getString();
}

void read_x86_features(const llvm::MCSubtargetInfo& info, HostTarget& target) {
  const bool has_avx2 = info.checkFeatures("+avx2") && info.checkFeatures("+fma");
  const bool has_avx512 = info.checkFeatures("+avx512f,+avx512bw,+avx512dq,+avx512vl");
  target.vector_bytes = has_avx512 ? 64 : has_avx2 ? 32 : 16;
  target.vector_registers = has_avx512 ? 32 : 16;
  target.has_fma = info.checkFeatures("+fma");
  target.has_float16_conversion = info.checkFeatures("+f16c");
  // Intel's vdpbf16ps is slower than converting and multiplying in float32: 79 against 131 GFLOP/s
  // on a Sapphire Rapids core at 1024^3, where AMD's Zen 4 reaches 225 against 107. Intel's fast
  // way is AMX.
  target.has_avx512_bfloat16 =
      has_avx512 && info.checkFeatures("+avx512bf16") && target.cpu.starts_with("znver");
  target.has_avx512_vnni = has_avx512 && info.checkFeatures("+avx512vnni");
  target.has_avx_vnni = has_avx2 && info.checkFeatures("+avxvnni");
  const bool has_amx = has_avx512 && info.checkFeatures("+amx-tile");
  target.has_amx_bfloat16 = has_amx && info.checkFeatures("+amx-bf16");
  target.has_amx_int8 = has_amx && info.checkFeatures("+amx-int8");
}

void read_features(HostTarget& target) {
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(target);
  const llvm::Triple& triple = machine->getTargetTriple();
  if (triple.getArch() == llvm::Triple::x86_64) {
    target.architecture = Architecture::kX86;
    read_x86_features(*machine->getMCSubtargetInfo(), target);
  } else if (triple.isAArch64()) {
    target.architecture = Architecture::kArm64;
    target.vector_registers = 32;
    target.has_fma = true;
    target.has_float16_conversion = true;
  }
}

}  // namespace

const HostTarget& host_target() {
  static const HostTarget target = [] {
    HostTarget host{.triple = llvm::sys::getProcessTriple(),
                    .cpu = llvm::sys::getHostCPUName().str(),
                    .features = host_features()};
    read_features(host);
    return host;
  }();
  return target;
}

HostTarget target_of_cpu(std::string_view cpu) {
  HostTarget target{
      .triple = llvm::sys::getProcessTriple(), .cpu = std::string(cpu), .features = ""};
  read_features(target);
  return target;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const HostTarget& target) {
  initialize_llvm();
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
  ENC_CHECK(found != nullptr, error);
  // Not LLVM's JIT flavour: that one takes the large code model, whose constants cost an extra
  // load.
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      target.triple, target.cpu, target.features, llvm::TargetOptions(), llvm::Reloc::PIC_));
}

}  // namespace enceladus::cpu

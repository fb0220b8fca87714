#include "codegen/cpu/lean_passes.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Pass.h>

namespace enceladus::cpu {
namespace {

// For what no kernel holds: exceptions, garbage collection, debugging information, statepoints,
// thread-local variables, x86's tiles, hardening, instrumentation, integers beyond 128 bits.
constexpr llvm::StringLiteral kForOthers[] = {
    "Expand large div/rem",
    "Expand large fp convert",
    "Lower AMX intrinsics",
    "Lower AMX type for load/store",
    "Canonicalize Freeze Instructions in Loops",
    "Merge contiguous icmps into a memcmp",
    "Expand memcmp() to load/stores",
    "Lower Garbage Collection Instructions",
    "Shadow Stack GC Lowering",
    "Constant Hoisting",
    "Replace intrinsics with calls to vector library",
    "Partially inline calls to library functions",
    "Expand vector predication intrinsics",
    "Instrument function entry/exit with calls to e.g. mcount() (post inlining)",
    "TLS Variable Hoist",
    "Expand indirectbr instructions",
    "Exception handling preparation",
    "Prepare callbr",
    "Safe Stack instrumentation pass",
    "Insert stack protectors",
    "Assignment Tracking Analysis",
    "Local Dynamic TLS Access Clean-up",
    "X86 PIC Global Base Reg Initialization",
    "Argument Stack Rebase",
    "X86 Windows Fixup Buffer Security Check",
    "X86 speculative load hardening",
    "X86 DynAlloca Expander",
    "Tile Register Pre-configure",
    "Tile Register Configure",
    "X86 Lower Tile Copy",
    "X86 Load Value Injection (LVI) Load Hardening",
    "Remove Redundant DEBUG_VALUE analysis",
    "Fixup Statepoint Caller Saved",
    "Insert KCFI indirect call checks",
    "Analyze Machine Code For Garbage Collection",
    "Insert fentry calls",
    "Insert XRay ops",
    "Implement the 'patchable-function' attribute",
    "X86 Indirect Branch Tracking",
    "X86 Atom pad short functions",
    "X86 Discriminate Memory Operands",
    "X86 Insert Cache Prefetches",
    "X86 insert wait instruction",
    "Contiguously Lay Out Funclets",
    "StackMap Liveness Analysis",
    "Live DEBUG_VALUE analysis",
    "Machine Sanitizer Binary Metadata",
    "Stack Frame Layout Analysis",
    "X86 Speculative Execution Side Effect Suppression",
    "X86 Indirect Thunks",
    "X86 Return Thunks",
    "X86 Load Value Injection (LVI) Ret-Hardening",
    "Pseudo Probe Inserter",
    "Check CFA info and insert CFI instructions if needed",
    "Register Allocation Pass Scoring",
};

// Optimizations of what the emitters do not write: if-conversion, tail duplication and the like;
// and scheduling after register allocation, which processors that run out of order do themselves.
constexpr llvm::StringLiteral kInVain[] = {
    "Early Tail Duplication",
    "Optimize machine instruction PHIs",
    "Merge disjoint stack slots",
    "Early If-Conversion",
    "Machine InstCombiner",
    "X86 cmov Conversion",
    "X86 Domain Reassignment Pass",
    "Live Range Shrink",
    "X86 Fixup SetCC",
    "X86 LEA Optimize",
    "X86 Optimize Call Frame",
    "X86 Avoid Store Forwarding Blocks",
    "Detect Dead Lanes",
    "Stack Slot Coloring",
    "PostRA Machine Sink",
    "Shrink Wrapping analysis",
    "Machine Late Instructions Cleanup Pass",
    "Tail Duplication",
    "Post RA top-down list latency scheduler",
    "X86 Byte/Word Instruction Fixup",
    "X86 LEA Fixup",
    "X86 Fixup Inst Tuning",
    "X86 Fixup Vector Constants",
    "Interleaved Access Pass",
    "Remove dead machine instructions",
    "Machine Loop Invariant Code Motion",  // the one behind register allocation
};

// Between them a sixth of the time of a small kernel. There is no shortage of registers in one that
// scheduling or sinking addresses into loops could end, and hardly a value that is computed twice.
constexpr llvm::StringLiteral kForLarge[] = {
    "CodeGen Prepare",
    "Machine Instruction Scheduler",
    "Machine Common Subexpression Elimination",
    "Machine Copy Propagation Pass",
};

const llvm::StringSet<>& left_out() {
  static const llvm::StringSet<> names = [] {
    llvm::StringSet<> all;
    for (llvm::StringRef name : kForOthers) all.insert(name);
    for (llvm::StringRef name : kInVain) all.insert(name);
    return all;
  }();
  return names;
}

}  // namespace

bool LeanPasses::is_left_out(llvm::StringRef name) const {
  if (left_out().contains(name)) return true;
  if (effort_ != Effort::kProducts && name == "Loop Strength Reduction") return true;
  return effort_ == Effort::kSmall && llvm::is_contained(kForLarge, name);
}

void LeanPasses::add(llvm::Pass* pass) {
  if (is_left_out(pass->getPassName()))
    delete pass;
  else
    PassManager::add(pass);
}

}  // namespace enceladus::cpu

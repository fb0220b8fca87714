#include "codegen/cpu/load.h"

#include <dlfcn.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/Error.h>
#include <sleef.h>

#include <stdexcept>

#include "codegen/cpu/code_memory.h"
#include "codegen/cpu/host_functions.h"
#include "codegen/cpu/host_target.h"

namespace enceladus::cpu {
namespace {

// Handles whose symbols generated code may call: this library with all that it is linked to, and
// the library that SLEEF lies in (linkers drop libraries that only generated code calls, so one
// function is named here).
void* own_library() {
  static void* handle = [] {
    Dl_info place;
    bool found = dladdr(reinterpret_cast<const void*>(&load_object), &place) != 0;
    void* own = found ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    return own != nullptr ? own : dlopen(nullptr, RTLD_LAZY);
  }();
  return handle;
}

void* sleef_library() {
  static void* handle = [] {
    Dl_info place;
    bool found = dladdr(reinterpret_cast<const void*>(&Sleef_sin_u10), &place) != 0;
    return found ? dlopen(place.dli_fname, RTLD_LAZY) : nullptr;
  }();
  return handle;
}

uint64_t find_function(const std::string& name) {
#ifdef __APPLE__
  const char* plain = name.c_str() + (name.starts_with("_") ? 1 : 0);
#else
  const char* plain = name.c_str();
#endif
  void* address = host_function(plain);
  if (address == nullptr) address = dlsym(own_library(), plain);
  if (address == nullptr && sleef_library() != nullptr) address = dlsym(sleef_library(), plain);
  return reinterpret_cast<uint64_t>(address);
}

class KernelMemory : public CodeMemory {
 public:
  uint64_t getSymbolAddress(const std::string& name) override { return find_function(name); }
};

}  // namespace

CodeImage load_object(const std::string& object, const std::string& entry) {
  host_target();  // asks the system for what code of this host may use
  llvm::MemoryBufferRef bytes(llvm::StringRef(object.data(), object.size()), "kernel");
  auto file = llvm::object::ObjectFile::createObjectFile(bytes);
  if (!file) throw std::runtime_error("machine code: " + llvm::toString(file.takeError()));
  auto memory = std::make_shared<KernelMemory>();
  llvm::RuntimeDyld linker(*memory, *memory);
  linker.loadObject(**file);
  linker.resolveRelocations();
  if (linker.hasError()) throw std::runtime_error("machine code: " + linker.getErrorString().str());
  std::string error;
  if (memory->finalizeMemory(&error)) throw std::runtime_error("machine code: " + error);
#ifdef __APPLE__
  void* address = linker.getSymbolLocalAddress("_" + entry);
#else
  void* address = linker.getSymbolLocalAddress(entry);
#endif
  if (address == nullptr) throw std::runtime_error("machine code has no function " + entry);
  return {reinterpret_cast<CpuEntry>(address), memory};
}

}  // namespace enceladus::cpu

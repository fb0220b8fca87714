#include "runtime/metal/objc.h"

#include <dlfcn.h>

#include "runtime/common/failure.h"

namespace enceladus::metal {

const Block::Descriptor Block::kDescriptor;

Objc::Objc(std::span<const std::string> libraries) {
  for (const std::string& path : libraries) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw DeviceFailure("metal", "dlopen(" + path + "): " + dlerror());
    libraries_.push_back(library);
  }
  get_class_ = reinterpret_cast<Id (*)(const char*)>(symbol("objc_getClass"));
  message_send_ = symbol("objc_msgSend");
  retain_ = reinterpret_cast<Id (*)(Id)>(symbol("objc_retain"));
  release_ = reinterpret_cast<void (*)(Id)>(symbol("objc_release"));
  push_pool_ = reinterpret_cast<void* (*)()>(symbol("objc_autoreleasePoolPush"));
  pop_pool_ = reinterpret_cast<void (*)(void*)>(symbol("objc_autoreleasePoolPop"));
  auto register_name = reinterpret_cast<Selector (*)(const char*)>(symbol("sel_registerName"));
#define SELECTOR(name, text) selectors.name = register_name(text);
#include "runtime/metal/selectors.def"
#undef SELECTOR
}

void* Objc::find_symbol(const char* name) const {
  for (void* library : libraries_)
    if (void* found = dlsym(library, name)) return found;
  return nullptr;
}

void* Objc::symbol(const char* name) const {
  if (void* found = find_symbol(name)) return found;
  throw DeviceFailure("metal", std::string("the system's Metal has no symbol ") + name);
}

Block::Block(const Objc& objc, void* function, void* context)
    : isa(objc.find_symbol("_NSConcreteGlobalBlock")), invoke(function), context(context) {}

}  // namespace enceladus::metal

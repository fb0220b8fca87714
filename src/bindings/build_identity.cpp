#include "bindings/build_identity.h"

#include <cstdint>
#include <cstring>

#ifdef __APPLE__
#include <dlfcn.h>
#include <mach-o/loader.h>
#else
#include <link.h>
#endif

namespace enceladus {
namespace {

std::string hexadecimal(const unsigned char* bytes, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

#ifdef __APPLE__

std::string read_identity() {
  Dl_info image;
  if (dladdr(reinterpret_cast<const void*>(&build_identity), &image) == 0) return "";
  const auto* header = static_cast<const mach_header_64*>(image.dli_fbase);
  const auto* command = reinterpret_cast<const load_command*>(header + 1);
  for (uint32_t i = 0; i < header->ncmds; ++i) {
    if (command->cmd == LC_UUID)
      return hexadecimal(reinterpret_cast<const uuid_command*>(command)->uuid, 16);
    command = reinterpret_cast<const load_command*>(reinterpret_cast<const char*>(command) +
                                                    command->cmdsize);
  }
  return "";
}

#else

std::string find_build_id(const char* note, const char* end) {
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof(header));
    const char* name = note + sizeof(header);
    const char* content = name + ((header.n_namesz + 3) & ~3u);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0)
      return hexadecimal(reinterpret_cast<const unsigned char*>(content), header.n_descsz);
    note = content + ((header.n_descsz + 3) & ~3u);
  }
  return "";
}

bool contains(const dl_phdr_info& image, uintptr_t address) {
  for (int i = 0; i < image.dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = image.dlpi_phdr[i];
    uintptr_t start = image.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= start && address < start + part.p_memsz) return true;
  }
  return false;
}

int visit_image(dl_phdr_info* image, size_t, void* result) {
  if (!contains(*image, reinterpret_cast<uintptr_t>(&build_identity))) return 0;
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const ElfW(Phdr) & part = image->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const char* start = reinterpret_cast<const char*>(image->dlpi_addr + part.p_vaddr);
    std::string id = find_build_id(start, start + part.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(result) = id;
  }
  return 1;
}

std::string read_identity() {
  std::string result;
  dl_iterate_phdr(&visit_image, &result);
  return result;
}

#endif

}  // namespace

std::string build_identity() { return read_identity(); }

}  // namespace enceladus

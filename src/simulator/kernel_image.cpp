#include "simulator/kernel_image.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "simulator/compile_msl.h"
#include "simulator/errors.h"
#include "simulator/process.h"
#include "simulator/runtime_functions.h"
#include "simulator/toolchain.h"

namespace enceladus::simulator {
namespace {

std::string hexadecimal(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

struct ArrayRow {
  void* address;
  uint64_t bytes;
  const char* name;
};

// The symbolizer prints "path:line:column" for each frame, the innermost first, and an empty line
// after the last frame of an address.
Place outermost_frame(const std::vector<std::string>& frames) {
  Place place;
  for (const std::string& frame : frames) {
    size_t name = frame.find(std::string(kMslFileName) + ":");
    if (name == std::string::npos) continue;
    unsigned line = 0, column = 0;
    std::sscanf(frame.c_str() + name + kMslFileName.size(), ":%u:%u", &line, &column);
    if (line != 0) place.line = line, place.column = column;
  }
  return place;
}

// "  // softmax.py:12" -> "softmax.py:12"; an empty string for any other line. Generated text
// has such a line before the statements of each line of the kernel.
std::string named_source(const std::string& line) {
  size_t begin = line.find_first_not_of(" \t");
  size_t colon = line.rfind(':');
  if (begin == std::string::npos || colon == std::string::npos) return "";
  bool comment = line.compare(begin, 3, "// ") == 0;
  bool number = colon + 1 < line.size() &&
                line.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (!comment || !number || colon <= begin + 3) return "";
  std::string named = line.substr(begin + 3);
  return named.find(' ') == std::string::npos ? named : "";
}

}  // namespace

KernelImage::KernelImage(const std::string& object_path, const std::string& msl)
    : object_path_(object_path) {
  std::istringstream text(msl);
  std::string source;
  for (std::string line; std::getline(text, line);) {
    if (std::string named = named_source(line); !named.empty()) source = named;
    lines_.push_back(line);
    sources_.push_back(source);
  }
  handle_ = dlopen(object_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw SimulatorUnavailable(std::string("dlopen: ") + dlerror());
  entry_ = reinterpret_cast<KernelEntry>(dlsym(handle_, "enceladus_entry"));
  auto** table = static_cast<void***>(dlsym(handle_, "enceladus_function_table"));
  if (entry_ == nullptr || table == nullptr) {
    throw SimulatorUnavailable("damaged simulated kernel: " + object_path);
  }
  std::span<void* const> addresses = runtime_function_addresses();
  std::copy(addresses.begin(), addresses.end(), *table);
  find_extent();
  read_arrays();
}

KernelImage::~KernelImage() {
  if (handle_ != nullptr) dlclose(handle_);
}

void KernelImage::find_extent() {
  link_map* map = nullptr;
  dlinfo(handle_, RTLD_DI_LINKMAP, &map);
  base_ = map->l_addr;
  auto visit = [](dl_phdr_info* info, size_t, void* data) {
    auto* image = static_cast<KernelImage*>(data);
    if (info->dlpi_addr != image->base_) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      image->end_ =
          std::max<uintptr_t>(image->end_, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    return 1;
  };
  dl_iterate_phdr(visit, this);
}

void KernelImage::read_arrays() {
  auto* row = static_cast<const ArrayRow*>(dlsym(handle_, "enceladus_threadgroup"));
  for (; row != nullptr && row->address != nullptr; ++row) {
    arrays_.push_back({reinterpret_cast<uintptr_t>(row->address), row->bytes, row->name});
  }
}

Place KernelImage::place_of_line(uint32_t line, uint32_t column) const {
  Place place{line, column, "", ""};
  if (line >= 1 && line <= lines_.size()) {
    const std::string& text = lines_[line - 1];
    size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    place.text = text.substr(first);
    place.source = sources_[line - 1];
  }
  return place;
}

std::vector<Place> KernelImage::places_of(const std::vector<uint32_t>& codes) const {
  std::vector<Place> places(codes.size());
  std::string program = find_symbolizer();
  if (program.empty() || codes.empty()) return places;
  std::string input;
  // A return address belongs to the instruction before it.
  for (uint32_t code : codes) input += hexadecimal(code - 1) + "\n";
  ProcessResult result =
      run_process({program, "--obj=" + object_path_, "--functions=none", "--inlines"}, input);
  std::istringstream lines(result.output);
  std::vector<std::string> frames;
  size_t next = 0;
  for (std::string line; std::getline(lines, line) && next < places.size();) {
    if (!line.empty()) {
      frames.push_back(line);
      continue;
    }
    Place place = outermost_frame(frames);
    places[next++] = place_of_line(place.line, place.column);
    frames.clear();
  }
  return places;
}

}  // namespace enceladus::simulator

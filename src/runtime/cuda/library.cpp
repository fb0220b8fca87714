#include "runtime/cuda/library.h"

#include <dirent.h>
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace enceladus::cuda {
namespace {

std::mutex guard;

std::vector<std::string>& extra_folders() {
  static auto* folders = new std::vector<std::string>;
  return *folders;
}

std::vector<std::string> searched_folders() {
  std::vector<std::string> folders = {""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root)
      folders.push_back(std::string(root) + "/lib64/");
  {
    const std::lock_guard lock(guard);
    for (const std::string& folder : extra_folders()) folders.push_back(folder + "/");
  }
  folders.push_back("/usr/local/cuda/lib64/");
  return folders;
}

}  // namespace

void set_library_folders(std::vector<std::string> folders) {
  const std::lock_guard lock(guard);
  extra_folders() = std::move(folders);
}

void* load_library(std::span<const char* const> names, std::string& problem) {
  for (const std::string& folder : searched_folders())
    for (const char* name : names) {
      if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      if (problem.empty()) problem = dlerror();
    }
  return nullptr;
}

std::string folder_of(const void* symbol) {
  Dl_info info;
  if (!symbol || dladdr(symbol, &info) == 0) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

void load_matching(const std::string& folder, const std::string& start) {
  DIR* directory = folder.empty() ? nullptr : opendir(folder.c_str());
  if (!directory) return;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.rfind(start, 0) == 0) dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  closedir(directory);
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

}  // namespace enceladus::cuda

// Finding the shared libraries of CUDA: by name where the loader knows them (or a framework has
// loaded them already), else in the usual folders and in those of pip packages.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/common/failure.h"

namespace enceladus::cuda {

[[noreturn]] inline void fail(const std::string& message) { throw DeviceFailure("cuda", message); }

// Folders to look in besides the loader's own, in order. Set by whoever knows where Python
// packages are; call before the first load.
void set_library_folders(std::vector<std::string> folders);

// The handle of the first name that loads; null, with what the loader said in `problem`.
void* load_library(std::span<const char* const> names, std::string& problem);
void* find_symbol(void* library, const char* name);  // null where there is none

// The folder of the library that holds a symbol; empty where unknown.
std::string folder_of(const void* symbol);
// Loads every library of a folder whose name starts so, for a library that will ask for them by
// name alone.
void load_matching(const std::string& folder, const std::string& start);

}  // namespace enceladus::cuda

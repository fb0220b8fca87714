// Makes the messages of Metal's compiler readable: each with the line of the text that it is about,
// and the kernel's Python line where a comment above names it.
#pragma once

#include <string>

namespace enceladus::metal {

// `messages` is what newLibraryWithSource answered: lines such as "program_source:3:7: error: ...".
std::string explain_source_error(const std::string& messages, const std::string& source);

}  // namespace enceladus::metal

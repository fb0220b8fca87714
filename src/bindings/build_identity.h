// A name for this build of the extension, so that caches never serve what another compiler made.
#pragma once

#include <string>

namespace enceladus {

// The linker's content hash of the loaded extension in hexadecimal (the GNU build id, or the UUID
// of a Mach-O image). Empty where the linker left none.
std::string build_identity();

}  // namespace enceladus

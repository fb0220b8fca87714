# Most of the time of a clean build goes into parsing the headers of LLVM, nanobind and the standard
# library again in each file, so each library precompiles those that it uses most. Headers of the
# project are left out: every file still includes what it needs.
set(ENCELADUS_STANDARD_HEADERS <algorithm> <array> <cstdint> <functional> <memory> <optional>
    <span> <string> <string_view> <unordered_map> <variant> <vector>)

# enceladus_precompile(TARGET [HEADER...]): the standard headers and those named.
function(enceladus_precompile target)
  target_precompile_headers(${target} PRIVATE ${ENCELADUS_STANDARD_HEADERS} ${ARGN})
  # ccache compares the contents of what goes into a precompiled header only with this flag.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

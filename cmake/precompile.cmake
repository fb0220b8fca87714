# Most of the time of a clean build goes into parsing the headers of the standard library, LLVM,
# nanobind and GoogleTest again in each file. A few targets precompile them, and the others take
# what their dependency has. The one header of the project among them is ir/ir.h, which nearly
# every file above it includes; every file still includes what it needs.
set(ENCELADUS_STANDARD_HEADERS <algorithm> <array> <cstdint> <deque> <functional> <memory>
    <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
set(ENCELADUS_IR_HEADERS ${ENCELADUS_STANDARD_HEADERS} [["ir/ir.h"]])

# enceladus_precompile(TARGET HEADER...): a precompiled header of the target's own.
function(enceladus_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # ccache compares the contents of what goes into a precompiled header only with this flag.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  set_property(TARGET ${target} PROPERTY ENCELADUS_PRECOMPILED_BY ${target})
endfunction()

# enceladus_share_precompiled(TARGET OTHER): the precompiled header that OTHER has. Both must be
# compiled with the same options; definitions that no precompiled header reads may differ.
function(enceladus_share_precompiled target other)
  get_target_property(owner ${other} ENCELADUS_PRECOMPILED_BY)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  set_property(TARGET ${target} PROPERTY ENCELADUS_PRECOMPILED_BY ${owner})
endfunction()

# enceladus_unity(TARGET): a few files of the target a compilation, which halves a clean build: the
# templates of a header are instantiated once for them. Names in anonymous namespaces must differ
# within a target; -DENCELADUS_UNITY=OFF compiles file by file, for those who edit C++.
function(enceladus_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ENCELADUS_UNITY} UNITY_BUILD_BATCH_SIZE 6)
endfunction()

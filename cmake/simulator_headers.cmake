# Writes a source file that holds the Metal headers of the simulator as string literals.
#   cmake -DFOLDER=... -DOUTPUT=... -P simulator_headers.cmake
file(GLOB_RECURSE headers RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT headers)
set(text "#include \"simulator/metal_headers.h\"\n\nnamespace enceladus::simulator {\nnamespace {\n\n")
string(APPEND text "constexpr MetalHeader kHeaders[] = {\n")
foreach(header ${headers})
  file(READ ${FOLDER}/${header} content)
  string(APPEND text "    {\"${header}\", R\"enceladus(${content})enceladus\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\n")
string(APPEND text "std::span<const MetalHeader> metal_headers() { return kHeaders; }\n\n")
string(APPEND text "}  // namespace enceladus::simulator\n")
file(WRITE ${OUTPUT} "${text}")

# The Metal simulator: needs a clang program when it runs, nothing but a compiler to be built.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  enceladus_library(simulator simulator support)
  set(metal_headers ${CMAKE_CURRENT_SOURCE_DIR}/simulator/metal_headers)
  file(GLOB_RECURSE metal_header_files CONFIGURE_DEPENDS ${metal_headers}/*)
  set(metal_headers_source ${CMAKE_CURRENT_BINARY_DIR}/metal_headers.cpp)
  add_custom_command(
    OUTPUT ${metal_headers_source}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${metal_headers} -DOUTPUT=${metal_headers_source} -P
            ${PROJECT_SOURCE_DIR}/cmake/simulator_headers.cmake
    DEPENDS ${metal_header_files} ${PROJECT_SOURCE_DIR}/cmake/simulator_headers.cmake
    VERBATIM)
  target_sources(enceladus_simulator PRIVATE ${metal_headers_source})
  target_link_libraries(enceladus_simulator PUBLIC ${CMAKE_DL_LIBS})
endif()

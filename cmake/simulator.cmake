# The Metal simulator: needs a clang program when it runs, nothing but a compiler to be built.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  enceladus_library(simulator simulator support)
  get_target_property(simulator_sources enceladus_simulator SOURCES)
  list(FILTER simulator_sources EXCLUDE REGEX "/fake_framework/")
  set_target_properties(enceladus_simulator PROPERTIES SOURCES "${simulator_sources}")
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

  # What stands in for libobjc and Metal.framework; the Metal runtime loads it by name.
  file(GLOB fake_sources CONFIGURE_DEPENDS
       ${CMAKE_CURRENT_SOURCE_DIR}/simulator/fake_framework/*.cpp)
  add_library(enceladus_metal_sim SHARED ${fake_sources})
  add_library(enceladus_fake_framework ALIAS enceladus_metal_sim)  # for its unit tests
  find_package(Threads REQUIRED)
  target_link_libraries(enceladus_metal_sim PRIVATE enceladus_simulator Threads::Threads)
  target_include_directories(enceladus_metal_sim PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_options(enceladus_metal_sim PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
  enceladus_unity(enceladus_metal_sim)
  install(TARGETS enceladus_metal_sim LIBRARY DESTINATION enceladus)
endif()

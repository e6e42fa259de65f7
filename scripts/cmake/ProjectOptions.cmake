# SPDX-License-Identifier: Apache-2.0
# What every target of the project is built with: lossgrad_options is linked by each of them.
option(LOSSGRAD_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(LOSSGRAD_WARNINGS_AS_ERRORS "Treat warnings as errors (developer builds)" OFF)
set(LOSSGRAD_SANITIZERS "" CACHE STRING "Comma list for -fsanitize=, for example address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(lossgrad_options INTERFACE)
target_compile_features(lossgrad_options INTERFACE cxx_std_20)
target_include_directories(lossgrad_options INTERFACE "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_BINARY_DIR}/generated")
target_compile_options(lossgrad_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  # GCC 12 finds overlaps in "text" + std::string(...) that are not there (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # The bounds are theorems about IEEE arithmetic: no fused operations that the source does not name.
  -ffp-contract=off
  $<$<BOOL:${LOSSGRAD_WARNINGS_AS_ERRORS}>:-Werror>)
if(LOSSGRAD_SANITIZERS)
  target_compile_options(lossgrad_options INTERFACE -fsanitize=${LOSSGRAD_SANITIZERS} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all
                         # It opens a pipe to look at an object, and takes a lack of descriptors for a fault.
                         -fno-sanitize=vptr)
  target_link_options(lossgrad_options INTERFACE -fsanitize=${LOSSGRAD_SANITIZERS})
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

# lossgrad_library(NAME SOURCES a.cpp ... LINKS lossgrad_base ...): one folder of lib/.
function(lossgrad_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC lossgrad_options ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
endfunction()

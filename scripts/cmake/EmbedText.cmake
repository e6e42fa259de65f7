# SPDX-License-Identifier: Apache-2.0
# lossgrad_embed_text(TARGET target NAMESPACE ns FILES a.cuh b.h ...)
# Compiles text files into the target: <generated>/ns_text.hpp declares, for each file a.cuh, a
# `std::string_view a_cuh()` in lossgrad::ns_text. Edited files are embedded again on the next build.
function(lossgrad_embed_text)
  cmake_parse_arguments(ARG "" "TARGET;NAMESPACE" "FILES" ${ARGN})
  set(outdir "${PROJECT_BINARY_DIR}/generated/embedded")
  set(stem "${outdir}/${ARG_NAMESPACE}_text")
  set(inputs)
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path "${file}" ABSOLUTE)
    list(APPEND inputs "${path}")
  endforeach()
  add_custom_command(
    OUTPUT "${stem}.cpp" "${stem}.hpp"
    COMMAND ${CMAKE_COMMAND} "-DSTEM=${stem}" "-DNAMESPACE=${ARG_NAMESPACE}" "-DINPUTS=${inputs}"
            -P "${PROJECT_SOURCE_DIR}/scripts/cmake/embed_text.cmake"
    DEPENDS ${inputs} "${PROJECT_SOURCE_DIR}/scripts/cmake/embed_text.cmake"
    VERBATIM)
  target_sources(${ARG_TARGET} PRIVATE "${stem}.cpp" "${stem}.hpp")
endfunction()

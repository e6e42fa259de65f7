# SPDX-License-Identifier: Apache-2.0
# Every library the project uses, in one place. scripts/setup installs the same list.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(TBB REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS context)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
# Debian's package of libzip names tools in its CMake file that another package has.
find_path(LIBZIP_INCLUDE_DIR zip.h REQUIRED)
find_library(LIBZIP_LIBRARY zip REQUIRED)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)

# CUDA: headers and the static runtime, from a CUDA Toolkit or from the wheels that scripts/setup unpacks.
set(LOSSGRAD_CUDA_ROOT "" CACHE PATH "Folder with include/ and lib/ of CUDA 12.8 or later; empty: look for one")
file(GLOB cuda_wheels "${PROJECT_SOURCE_DIR}/.deps/cuda/nvidia/cu*")
find_path(LOSSGRAD_CUDA_INCLUDE_DIR cuda_runtime_api.h REQUIRED
          HINTS ${LOSSGRAD_CUDA_ROOT} ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda ${cuda_wheels}
          PATH_SUFFIXES include)
find_library(LOSSGRAD_CUDART_STATIC cudart_static REQUIRED
             HINTS ${LOSSGRAD_CUDA_ROOT} ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda ${cuda_wheels}
             PATH_SUFFIXES lib64 lib lib/x64 targets/x86_64-linux/lib targets/sbsa-linux/lib)

if(LOSSGRAD_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

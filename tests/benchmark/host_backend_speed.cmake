# SPDX-License-Identifier: Apache-2.0
add_executable(host_backend_speed "${CMAKE_CURRENT_LIST_DIR}/host_backend_speed.cpp")
target_link_libraries(host_backend_speed PRIVATE lossgrad_options lossgrad_device_host TBB::tbb)

# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(cuda_graphs CONFIG REQUIRED) defines the target cuda_graphs::runtime: the library of cuda_graphs_runtime.h.
#
#     cmake -Dcuda_graphs_DIR=$(python -c "import cuda_graphs as cg; print(cg.get_include())") ...
get_filename_component(cuda_graphs_LIBRARY "${CMAKE_CURRENT_LIST_DIR}/../../../runtime/libcuda_graphs.so" REALPATH)
if(NOT EXISTS "${cuda_graphs_LIBRARY}")
  set(cuda_graphs_FOUND FALSE)
  set(cuda_graphs_NOT_FOUND_MESSAGE "${cuda_graphs_LIBRARY} is missing: reinstall cuda_graphs")
  return()
endif()
if(NOT TARGET cuda_graphs::runtime)
  add_library(cuda_graphs::runtime SHARED IMPORTED)
  set_target_properties(cuda_graphs::runtime PROPERTIES
    IMPORTED_LOCATION "${cuda_graphs_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
endif()

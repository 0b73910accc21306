// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The host driver under NVIDIA's name. This library contains no code. Its SONAME is libcuda.so.1 (or libcuda.so, a name
// that some programs use), and it depends on the host driver. Once it is loaded, dlopen() of that name finds it.
// dlsym() on the result finds the host driver's functions, because it also searches the dependencies of a library. So
// all callers in the process share one host driver. Only hostdriver/standin/command.py loads this library.

// This symbol distinguishes the library from NVIDIA's library.
extern "C" __attribute__((visibility("default"))) int cghStandsIn() {
    return 1;
}

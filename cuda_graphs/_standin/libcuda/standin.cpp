// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The host driver under NVIDIA's name. This library holds no code: its SONAME is libcuda.so.1 (or libcuda.so, a name
// that some programs ask for), and it needs the host driver. Once it is loaded, dlopen() of that name finds it, and
// dlsym() on what dlopen() gave finds the host driver's functions, for it looks through what a library needs. So the
// process has one host driver, whoever asks. cuda_graphs/hostdriver.py loads it, and nothing else does.

// By this it is told from NVIDIA's library.
extern "C" __attribute__((visibility("default"))) int cghStandsIn() {
    return 1;
}

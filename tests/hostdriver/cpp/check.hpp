// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The harness of the host driver's C++ tests. A test is a law with a name: `LAW(Stream, RunsItsWorkInOrder) { ... }`. A
// failed check prints its location and values, and ends its test. `LAW_ALONE` runs in a separate process, for tests
// that leave a failed context or end the process.
//
//     program               runs all laws, prints one line
//     program Stream.Runs…  runs the laws whose names begin so
#ifndef HOSTDRIVER_TESTS_CHECK_HPP
#define HOSTDRIVER_TESTS_CHECK_HPP

#include <cuda.h>

#include <sstream>
#include <string>

namespace check {

struct Failure {
    std::string text;
};

struct Registration {
    Registration(const char* name, void (*run)(), bool alone);
};

[[noreturn]] void fail(const char* file, int line, const std::string& text);

template <class T>
std::string show(const T& value) {
    std::ostringstream out;
    out << value;
    return out.str();
}
std::string show(CUresult value);

template <class A, class B>
void equal(const A& a, const B& b, const char* text, const char* file, int line) {
    if (!(a == b)) fail(file, line, std::string(text) + ": " + show(a) + " and " + show(b));
}

unsigned workers();  // number of workers, read from CUDA_GRAPHS_HOST_THREADS as the driver does

}  // namespace check

#define LAW_OF_KIND(subject, law, alone)                                                                      \
    static void subject##_##law();                                                                            \
    static const check::Registration subject##_##law##_registered(#subject "." #law, subject##_##law, alone); \
    static void subject##_##law()
#define LAW(subject, law) LAW_OF_KIND(subject, law, false)
#define LAW_ALONE(subject, law) LAW_OF_KIND(subject, law, true)

#define CHECK(condition)                                               \
    do {                                                               \
        if (!(condition)) check::fail(__FILE__, __LINE__, #condition); \
    } while (false)
#define EQUAL(a, b) check::equal((a), (b), #a " == " #b, __FILE__, __LINE__)
// Check that the call succeeds, or that it returns this code.
#define OK(call) EQUAL(call, CUDA_SUCCESS)
#define ANSWERS(code, call) EQUAL(call, code)

#endif

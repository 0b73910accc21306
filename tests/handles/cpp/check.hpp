// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The macros that the tests are written in. TEST(Subject, WhatHolds) adds a function to the list that main runs.
// CHECK(condition) prints the location and the condition and ends the program if the condition does not hold.
#ifndef CUDA_GRAPHS_TESTS_HANDLES_CHECK_HPP
#define CUDA_GRAPHS_TESTS_HANDLES_CHECK_HPP

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& all_tests() {
    static std::vector<Test> tests;
    return tests;
}

struct Enter {
    Enter(const char* name, void (*run)()) { all_tests().push_back({name, run}); }
};

#define TEST(subject, law)                                                          \
    static void subject##_##law();                                                  \
    static const Enter enter_##subject##_##law(#subject "." #law, subject##_##law); \
    static void subject##_##law()

#define CHECK(...)                                                                 \
    do {                                                                           \
        if (!(__VA_ARGS__)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
            std::exit(1);                                                          \
        }                                                                          \
    } while (0)

// Runs `work(i)` on `count` threads at the same time.
template <class Work>
void parallelize(int count, Work work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
    for (std::thread& thread : threads) thread.join();
}

#endif

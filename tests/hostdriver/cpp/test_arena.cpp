// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Arenas: a value is a handle exactly as long as its object lives.
#include <sys/resource.h>

#include <cstdio>
#include <set>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/base/ref.hpp"

namespace {

struct Thing {
    explicit Thing(int number) : number(number) { ++alive; }
    ~Thing() { --alive; }
    int number;
    static inline int alive = 0;
};

struct Shared : cgh::RefCounted {
    explicit Shared(bool* gone) : gone(gone) {}
    static void dispose(Shared* object) {
        *object->gone = true;
        delete object;
    }
    bool* gone;
};

// An object of the size of a context.
struct Large {
    explicit Large(std::size_t number) : number(number) {}
    std::size_t number;
    char more[8000];
};

std::size_t addresses_in_use() {
    unsigned long pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) check::fail(__FILE__, __LINE__, "no statm");
    std::fclose(file);
    return pages * 4096;
}

}  // namespace

LAW(Arena, KnowsItsLiveObjectsAndNothingElse) {
    cgh::Arena<Thing>& things = cgh::arena<Thing>;
    EQUAL(things.cast(nullptr), nullptr);
    Thing* one = things.create(1);
    Thing* two = things.create(2);
    EQUAL(cgh::cast<Thing>(one), one);
    EQUAL(cgh::cast<Thing>(two)->number, 2);
    const auto* inside = reinterpret_cast<const char*>(one);
    for (const int distance : {1, 4, 8, -8, 4096, 1 << 20}) EQUAL(things.cast(inside + distance) == one, false);
    Thing local(3);
    EQUAL(things.cast(&local), nullptr);
    CHECK(things.kill(one));
    EQUAL(things.cast(one), nullptr);
    EQUAL(Thing::alive, 3);  // no longer valid as handles, but still objects
    CHECK(!things.kill(one));
    things.recycle(one);
    EQUAL(Thing::alive, 2);
    things.recycle(two);
    EQUAL(things.cast(two), nullptr);
    EQUAL(things.live_count(), 0u);
}

LAW(Arena, HoldsManyAndUsesTheirSlotsAgain) {
    static cgh::Arena<std::uint64_t> numbers;
    std::vector<std::uint64_t*> all;
    for (std::uint64_t i = 0; i < 200'000; ++i) all.push_back(numbers.create(i));
    for (std::uint64_t i = 0; i < all.size(); ++i) EQUAL(*numbers.cast(all[i]), i);
    const std::set<std::uint64_t*> before(all.begin(), all.end());
    EQUAL(before.size(), all.size());
    for (std::uint64_t* number : all) numbers.recycle(number);
    // The oldest slot is used first, so that a dead handle stays invalid for a long time.
    std::uint64_t* again = numbers.create(1u);
    EQUAL(again, all.front());
    for (std::uint64_t i = 1; i < 200'000; ++i) CHECK(before.count(numbers.create(i)) == 1);
    EQUAL(numbers.live_count(), 200'000u);
}

LAW(Arena, ReservesFewTimesTheAddressesThatItsObjectsTake) {
    static cgh::Arena<Large> things;
    constexpr std::size_t kSome = std::size_t{32} << 20;
    std::vector<Large*> all;
    const std::size_t before = addresses_in_use();
    for (std::size_t i = 0; i < 20'000; ++i) {
        all.push_back(things.create(i));
        if (i % 1000 == 0) CHECK(addresses_in_use() - before <= kSome + 12 * all.size() * sizeof(Large));
    }
    // All ranges contain valid handles, and no address near a handle is valid.
    for (std::size_t i = 0; i < all.size(); ++i) {
        EQUAL(things.cast(all[i])->number, i);
        EQUAL(things.cast(reinterpret_cast<const char*>(all[i]) + 8), nullptr);
        EQUAL(things.cast(reinterpret_cast<const char*>(all[i]) - 8), nullptr);
    }
    const std::set<Large*> those(all.begin(), all.end());
    for (Large* const one : all)
        for (const std::size_t range : {std::size_t{4} << 20, std::size_t{32} << 20, std::size_t{256} << 20}) {
            auto* const other = reinterpret_cast<Large*>(reinterpret_cast<char*>(one) + range);
            EQUAL(things.cast(other) != nullptr, those.count(other) == 1);
        }
}

LAW_ALONE(Arena, MakesObjectsUpToTheLimitOfAddresses) {
    static cgh::Arena<Large> things;
    constexpr std::size_t kRoom = std::size_t{200} << 20;
    std::vector<Large*> all;
    all.reserve(kRoom / sizeof(Large));
    rlimit limit{};
    EQUAL(getrlimit(RLIMIT_AS, &limit), 0);
    const rlimit low{addresses_in_use() + kRoom, limit.rlim_max};
    EQUAL(setrlimit(RLIMIT_AS, &low), 0);
    while (Large* const one = things.create(all.size())) all.push_back(one);
    CHECK(all.size() * sizeof(Large) > kRoom / 2);
    EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
    for (std::size_t i = 0; i < all.size(); ++i) EQUAL(things.cast(all[i])->number, i);
    // More address space makes more objects possible.
    CHECK(things.create(all.size()) != nullptr);
}

LAW(Arena, IsAskedWhileItGrows) {
    static cgh::Arena<Large> things;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            std::vector<Large*> mine;
            for (std::size_t i = 0; i < 1500; ++i) {
                mine.push_back(things.create(t << 32 | i));
                if (things.cast(mine[i / 2])->number != (t << 32 | i / 2)) check::fail(__FILE__, __LINE__, "another's");
            }
        });
    for (std::thread& thread : threads) thread.join();
    EQUAL(things.live_count(), 6000u);
}

LAW(Arena, GivesEachThreadItsOwnObjects) {
    static cgh::Arena<int> numbers;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            for (int i = 0; i < 5000; ++i) {
                int* mine = numbers.create(t);
                EQUAL(*numbers.cast(mine), t);
                *mine = t;
                if (!numbers.kill(mine)) check::fail(__FILE__, __LINE__, "killed by another thread");
                numbers.recycle(mine);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EQUAL(numbers.live_count(), 0u);
}

LAW(Ref, DisposesOnceAfterTheLastReference) {
    bool gone = false;
    auto first = cgh::Ref<Shared>::adopt(new Shared(&gone));
    {
        cgh::Ref<Shared> second(first), third;
        third = second;
        second = cgh::Ref<Shared>();
        first = cgh::Ref<Shared>();
        CHECK(!gone && third->gone == &gone);
        CHECK(third->try_retain());
        third->release();
    }
    CHECK(gone);
}

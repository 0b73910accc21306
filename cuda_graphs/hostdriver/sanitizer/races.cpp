// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "races.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

namespace cgh {
namespace {

constexpr std::uint32_t kSet = 0x80000000;  // marks the number of a set of readers

// Values with increasing numbers. The numbers continue after forget(), so that shadows need not be cleared: a number
// below `first_` has no value.
template <class T>
class Numbered {
  public:
    std::uint32_t add(T value) {
        all_.push_back(std::move(value));
        return first_ + static_cast<std::uint32_t>(all_.size()) - 1;
    }
    const T* find(std::uint32_t number) const { return number >= first_ ? &all_[number - first_] : nullptr; }
    void forget() {
        first_ += static_cast<std::uint32_t>(all_.size());
        all_.clear();
    }

  private:
    std::deque<T> all_;
    std::uint32_t first_ = 1;
};

using Readers = std::vector<std::uint32_t>;  // numbers of accesses

std::size_t hash_of(const Readers& readers) {
    std::size_t hash = 0;
    for (const std::uint32_t reader : readers) hash = (hash ^ reader) * 0x9e3779b97f4a7c15;
    return hash >> 32;
}

struct Races {
    Numbered<Access> accesses;
    Numbered<Readers> sets;
    std::array<std::uint32_t, 1024> recent_sets{};             // by hash; an overwritten set gets a new number
    std::unordered_map<std::uintptr_t, ProgressRef> released;  // by address
    std::uint64_t epoch = 0;
};

Races& races() {
    static auto* const found = new Races;
    return *found;
}

void forget_if_over(Races& all) {
    if (all.epoch == order_epoch()) return;
    all.epoch = order_epoch();
    all.accesses.forget();
    all.sets.forget();
    all.released.clear();
}

ProgressRef merged(const ProgressRef& a, const ProgressRef& b) {
    if (a == nullptr || a == b) return b;
    if (b == nullptr) return a;
    auto result = std::make_shared<Progress>(*a);
    for (const auto& [block, step] : *b) {
        std::uint32_t& known = (*result)[block];
        known = std::max(known, step);
    }
    return result;
}

bool is_strong(const cgh_site& site) {
    return (site.flags & CGH_SITE_STRONG) != 0;
}

// Returns true if the earlier access is complete when the block makes its access, and an order guarantees this.
bool is_before(const Access& earlier, const Block& block) {
    if (earlier.task == block.task && (earlier.block == block.number || earlier.phase < block.phase)) return true;
    if (earlier.task != block.task && comes_before(*earlier.task, *block.task)) return true;
    if (block.seen == nullptr) return false;
    const auto found = block.seen->find({earlier.task, earlier.block});
    return found != block.seen->end() && found->second >= earlier.step;
}

bool race(const Access& earlier, const cgh_site& site, const Block& block) {
    return !(is_strong(*earlier.site) && is_strong(site)) && !is_before(earlier, block);
}

std::uint32_t number_of(Races& all, const cgh_site& site, Block& block) {
    Block::SiteAccess& access = block.accesses[&site];
    if (access.when != block.now)
        access = {block.now, all.accesses.add({block.task, block.number, block.place, block.phase, block.step, &site})};
    return access.number;
}

// A view of several numbers.
struct NumberView {
    const std::uint32_t* first;
    std::size_t count;
    const std::uint32_t* begin() const { return first; }
    const std::uint32_t* end() const { return first + count; }
};

// Returns the readers in `readers`, which must outlive the result.
NumberView readers_of(const Races& all, const std::uint32_t& readers) {
    if ((readers & kSet) == 0) return {&readers, all.accesses.find(readers) != nullptr ? 1u : 0u};
    const Readers* const found = all.sets.find(readers & ~kSet);
    return found != nullptr ? NumberView{found->data(), found->size()} : NumberView{nullptr, 0};
}

std::uint32_t number_of(Races& all, const Readers& readers) {
    if (readers.size() == 1) return readers[0];
    std::uint32_t& number = all.recent_sets[hash_of(readers) % all.recent_sets.size()];
    const Readers* const known = number != 0 ? all.sets.find(number & ~kSet) : nullptr;
    if (known == nullptr || *known != readers) number = all.sets.add(readers) | kSet;
    return number;
}

// Returns the number of the readers with `further`, a reader of `block`, added.
std::uint32_t with_reader(Races& all, std::uint32_t readers, std::uint32_t further, const Block& block) {
    if (readers == further) return readers;
    const NumberView before = readers_of(all, readers);
    if (before.count == 0) return further;
    Readers kept;
    unsigned alike = 0;
    const bool strong = is_strong(*all.accesses.find(further)->site);
    for (const std::uint32_t reader : before) {
        if (reader == further) return readers;
        const Access& access = *all.accesses.find(reader);
        const bool was_strong = is_strong(*access.site);
        // Any access that races with the old reader races with the new one, too.
        if (is_before(access, block) && (was_strong || !strong)) continue;
        alike += access.task == block.task && was_strong == strong;
        kept.push_back(reader);
    }
    if (alike >= 2 && kept.size() == before.count) return readers;
    if (alike < 2) kept.push_back(further);
    return number_of(all, kept);
}

}  // namespace

const Access* note_access(ShadowMemory& memory, std::uintptr_t address, std::size_t bytes, const cgh_site& site,
                          Block& block, std::uintptr_t* at) {
    Races& all = races();
    forget_if_over(all);
    const std::uint32_t mine = number_of(all, site, block);
    const bool writes = (site.flags & CGH_SITE_WRITE) != 0;
    const std::size_t first = address - memory.base;
    memory.first_touched = std::min(memory.first_touched, first);
    memory.end_touched = std::max(memory.end_touched, first + bytes);
    ByteAccesses* const touched = memory.touched.as<ByteAccesses>();
    const Access* found = nullptr;
    ByteAccesses looked_at{}, became{};  // the previous byte before and after; most bytes are equal
    bool looked = false;
    for (std::size_t i = first; i < first + bytes; ++i) {
        if (looked && touched[i].writer == looked_at.writer && touched[i].readers == looked_at.readers) {
            touched[i] = became;
            continue;
        }
        looked_at = touched[i];
        looked = true;
        const Access* other = all.accesses.find(touched[i].writer);
        if (other != nullptr && !race(*other, site, block)) other = nullptr;
        if (writes && other == nullptr) {
            for (const std::uint32_t reader : readers_of(all, touched[i].readers)) {
                if (!race(*all.accesses.find(reader), site, block)) continue;
                other = all.accesses.find(reader);
                break;
            }
        }
        if (other != nullptr && found == nullptr) {
            found = other;
            *at = memory.base + i;
        }
        became = writes ? ByteAccesses{mine, 0}
                        : ByteAccesses{touched[i].writer, with_reader(all, touched[i].readers, mine, block)};
        touched[i] = became;
    }
    return found;
}

void note_release(std::uintptr_t address, const cgh_site& site, Block& block) {
    Races& all = races();
    forget_if_over(all);
    if ((site.flags & (CGH_SITE_RELEASE | CGH_SITE_FENCE)) != 0) {
        auto progress = block.seen != nullptr ? std::make_shared<Progress>(*block.seen) : std::make_shared<Progress>();
        (*progress)[{block.task, block.number}] = block.step++;
        block.released = std::move(progress);
        ++block.now;
    }
    if ((site.flags & CGH_SITE_WRITE) != 0 && block.released != nullptr)
        all.released[address] = merged(all.released[address], block.released);
}

void note_acquire(std::uintptr_t address, Block& block) {
    Races& all = races();
    forget_if_over(all);
    const auto found = all.released.find(address);
    if (found != all.released.end()) block.seen = merged(block.seen, found->second);
}

}  // namespace cgh

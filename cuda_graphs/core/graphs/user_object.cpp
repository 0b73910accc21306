// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "user_object.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"
#include "node.hpp"

namespace cg {

namespace {

// Sizes of pages in slots. A graph of 1000 nodes has four pages. Instantiating it makes one driver call per page, of
// 0.05 us.
constexpr std::uint32_t kFirstSize = 16;
constexpr std::uint32_t kFirstCapturedSize = 64;  // captures with fewer nodes are rare
constexpr std::uint32_t kGrowth = 4;
constexpr std::uint32_t kLastSize = 1024;
constexpr std::uint32_t kSmallSize = 32;  // maximum that a release moves, except for the first release from a larger
                                          // page

// Runs where CUDA calls are forbidden (cuda.h, cuUserObjectCreate).
void CUDA_CB defer_page(void* page) {
    defer(static_cast<OwnerPage*>(page));
}

}  // namespace

void release_object(CUuserObject object) noexcept {
    report_leak(driver().cuUserObjectRelease(object, 1), "cuUserObjectRelease");
}

Opaque bundle(std::vector<Opaque> owners) {
    return std::make_shared<const std::vector<Opaque>>(std::move(owners));
}

Opaque copy_bytes(const void* data, std::size_t size) {
    std::shared_ptr<unsigned char> bytes(new unsigned char[size], std::default_delete<unsigned char[]>());
    std::memcpy(bytes.get(), data, size);
    return bytes;
}

OwnerPage* OwnerPage::create(CUgraph graph, std::uint32_t size) noexcept {
    std::unique_ptr<OwnerPage> page(new (std::nothrow) OwnerPage);
    if (!page || !page->make_room(size)) return note_error(CUDA_ERROR_OUT_OF_MEMORY, "OwnerPage::create"), nullptr;
    const GilRelease released;
    CU_TRY(driver().cuUserObjectCreate(&page->object_, page.get(), defer_page, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OwnerPage* shared = page.release();
    const CUresult status = graph == nullptr ? CUDA_SUCCESS : shared->attach(graph);
    if (status == CUDA_SUCCESS) return shared;
    shared->drop(nullptr);
    return note_error(status, "cuGraphRetainUserObject"), nullptr;
}

bool OwnerPage::make_room(std::uint32_t size) noexcept {
    try {
        slots_.reserve(size);
    } catch (const std::bad_alloc&) {
        return false;
    }
    size_ = size;
    return true;
}

CUresult OwnerPage::attach(CUgraph graph) noexcept {
    const GilRelease released;
    const CUresult status = driver().cuGraphRetainUserObject(graph, object_, 1, CU_GRAPH_USER_OBJECT_MOVE);
    loose_ = status != CUDA_SUCCESS;
    return status;
}

void OwnerPage::drop(CUgraph graph) noexcept {
    const GilRelease released;
    if (loose_)
        release_object(object_);  // its destructor callback defers the page
    else
        report_leak(driver().cuGraphReleaseUserObject(graph, object_, 1), "cuGraphReleaseUserObject");
}

void OwnerPage::rollback(std::uint32_t index) noexcept {
    --pending_;
    if (index + 1 != used_) return;  // later slots may share the owners
    if (index == shared_by_) shared_ = nullptr;
    const Owners dropped = std::exchange(slots_[index].owners, {});
}

void OwnerPage::leave(std::uint32_t index) noexcept {
    slots_[index].node = nullptr;
    --nodes_;
}

Owners OwnerPage::take_back(std::uint32_t index) noexcept {
    --pending_;
    Owners taken = std::exchange(slots_[index].owners, {});
    if (index + 1 == used_) slots_.pop_back(), --used_;
    return taken;
}

namespace {

bool are_same(const Opaque& a, const Opaque& b) noexcept {
    return a.get() == b.get() && !a.owner_before(b) && !b.owner_before(a);
}

bool are_same(const Owners& a, const Owners& b) noexcept {
    return are_same(a.first, b.first) && are_same(a.second, b.second);
}

}  // namespace

bool OwnerPage::holds(const Owners& owners) const noexcept {
    const auto has = [&](const Slot& slot) { return are_same(slot.owners, owners); };
    return std::any_of(slots_.begin(), slots_.end(), has);
}

void OwnerPage::move_nodes_to(const std::vector<OwnerPage*>& targets) noexcept {
    auto target = targets.begin();
    for (std::uint32_t i = 0; i < used_; ++i) {
        Slot& slot = slots_[i];
        if (slot.node == nullptr) continue;
        if ((*target)->is_full()) ++target;
        OwnerPage& page = **target;
        slot.node->owners = {&page, page.used_};
        page.slots_.emplace_back(owners(i), slot.node, page.used_++);
        ++page.nodes_;
        slot.node = nullptr;
    }
    nodes_ = 0;
}

Owners owners_of(OwnerSlot slot) noexcept {
    return slot.page == nullptr ? Owners{} : slot.page->owners(slot.index);
}

bool holds(OwnerSlot slot, const Owners& owners) noexcept {
    return slot.page != nullptr && are_same(slot.page->owners(slot.index), owners);
}

OwnerPage* OwnerPages::add_page(CUgraph graph, std::uint32_t size) noexcept {
    OwnerPage* page = OwnerPage::create(is_shared_ && !is_captured_ ? graph : nullptr, size);
    if (page != nullptr) link(*page);
    return page;
}

bool OwnerPages::add_pages_for(CUgraph graph, std::uint32_t nodes, std::vector<OwnerPage*>& pages) noexcept {
    const std::uint32_t count = (nodes + kSmallSize - 1) / kSmallSize;
    try {
        pages.reserve(count);
    } catch (const std::bad_alloc&) {
        return false;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        OwnerPage* page = add_page(graph, kSmallSize);
        if (page == nullptr) return false;
        pages.push_back(page);
    }
    return true;
}

void OwnerPages::link(OwnerPage& page) noexcept {
    OwnerPage*& list = list_of(page);
    page.previous_ = nullptr;
    page.next_page_ = list;
    if (list != nullptr) list->previous_ = &page;
    list = &page;
}

void OwnerPages::remove_page(OwnerPage& page) noexcept {
    (page.previous_ == nullptr ? list_of(page) : page.previous_->next_page_) = page.next_page_;
    if (page.next_page_ != nullptr) page.next_page_->previous_ = page.previous_;
}

void OwnerPages::begin_capture() noexcept {
    seal();
    is_captured_ = true;
}

CUresult OwnerPages::end_capture(CUgraph graph) noexcept {
    seal();
    is_captured_ = false;
    return is_shared_ ? attach_loose(graph) : CUDA_SUCCESS;
}

CUresult OwnerPages::share(CUgraph graph) noexcept {
    is_shared_ = true;
    return is_captured_ ? CUDA_SUCCESS : attach_loose(graph);
}

CUresult OwnerPages::attach_loose(CUgraph graph) noexcept {
    while (loose_ != nullptr) {
        OwnerPage& page = *loose_;
        remove_page(page);
        CUresult status = page.attach(graph);
        if (status != CUDA_SUCCESS) status = page.attach(graph);  // again: a graph without its owners is unusable
        link(page);
        if (status != CUDA_SUCCESS) return status;
    }
    return CUDA_SUCCESS;
}

void OwnerPages::drop_loose() noexcept {
    while (loose_ != nullptr) {
        OwnerPage& page = *loose_;
        remove_page(page);
        page.drop(nullptr);
    }
}

void OwnerPages::drop_all() noexcept {
    open_ = first_ = nullptr;  // not read: the graph's pages may be destroyed
    is_captured_ = false;
    drop_loose();
}

bool OwnerPages::open_page(CUgraph graph) noexcept {
    const std::uint32_t first = is_captured_ ? kFirstCapturedSize : kFirstSize;
    OwnerPage* page = add_page(graph, open_ == nullptr ? first : std::min(open_->size() * kGrowth, kLastSize));
    if (page != nullptr) open_ = page;
    return page != nullptr;
}

void OwnerPages::rollback(OwnerSlot slot) noexcept {
    if (slot.page != nullptr) slot.page->rollback(slot.index);
}

void OwnerPages::commit(CUgraph graph, OwnerSlot slot, NodeRecord& node) noexcept {
    if (slot.page != nullptr) slot.page->commit(slot.index, node);
    release(graph, std::exchange(node.owners, slot));
}

void OwnerPages::release(CUgraph graph, OwnerSlot slot) noexcept {
    OwnerPage* page = slot.page;
    if (page == nullptr) return;
    page->leave(slot.index);
    if (page->has_pending()) return;
    std::vector<OwnerPage*> fresh;
    if (!add_pages_for(graph, page->nodes(), fresh)) {
        for (OwnerPage* unused : fresh) remove_page(*unused), unused->drop(graph);
        return;
    }
    page->move_nodes_to(fresh);
    if (page == open_) open_ = fresh.empty() ? nullptr : fresh.back();
    remove_page(*page);
    page->drop(graph);
}

}  // namespace cg

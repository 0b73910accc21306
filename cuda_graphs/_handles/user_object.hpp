// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What a graph's nodes need beyond Python (kernels, arguments, callbacks, events, operands) is attached to the CUgraph
// as CUDA user objects, so that clones keep it too, and executables can (graph_exec.hpp). One user object, a page,
// holds the owners of many nodes: adding a node then costs a handle copy and not two driver calls. A page that
// something may share with the graph is never emptied; releasing one node's owners moves the others to new pages
// instead. The pages of a graph grow, so that large graphs have few; those that others are moved to are small, so that
// the next release is cheap. docs/design/2026-11-node-owners.md says why.
//
// Nobody can copy a graph whose handle nobody has. So pages are loose at first: ours, which spares the calls that give
// them to the graph and those that take them away while an executable is made or updated. The graph takes them once its
// handle was given away or it is embedded; not while it is being captured, since then it belongs to the driver, which
// destroys it when the capture is spoiled.
//
// Not locked: the GIL is held, except where a driver call is made.
#ifndef CUDA_GRAPHS_HANDLES_USER_OBJECT_HPP
#define CUDA_GRAPHS_HANDLES_USER_OBJECT_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "box.hpp"
#include "deferred.hpp"

namespace cg {

struct NodeRecord;

// What one node keeps alive.
struct Owners {
    Opaque first;
    Opaque second;

    explicit operator bool() const noexcept { return first || second; }
};

template <class T>
Opaque as_owner(const std::shared_ptr<T>& handle) noexcept {
    return handle;
}

// Gives one reference back. Without locks: it may warn.
void release_object(CUuserObject object) noexcept;

// Several owners as one.
Opaque bundle(std::vector<Opaque> owners);

// A copy of bytes, that goes with the owner. `get()` is its address.
Opaque copy_bytes(const void* data, std::size_t size);

class OwnerPage;

// Where a graph keeps the owners of a node. No page: it has none.
struct OwnerSlot {
    OwnerPage* page = nullptr;
    std::uint32_t index = 0;
};

// Whether these are there: the very same, so that nothing has to be done.
bool holds(OwnerSlot slot, const Owners& owners) noexcept;

// The payload of one user object.
class OwnerPage final : public Deferred {
  public:
    // A page of so many slots to which `graph` has the one reference, or we where that is null; null after a noted
    // error.
    static OwnerPage* create(CUgraph graph, std::uint32_t size) noexcept;

    // Gives our reference to the graph, or keeps it where the driver refuses.
    CUresult attach(CUgraph graph) noexcept;
    // Gives up that one reference. Nothing of the page may be used after it.
    void drop(CUgraph graph) noexcept;

    bool is_loose() const noexcept { return loose_; }
    std::uint32_t size() const noexcept { return size_; }
    bool is_full() const noexcept { return used_ == size_; }
    bool has_pending() const noexcept { return pending_ != 0; }
    std::uint32_t nodes() const noexcept { return nodes_; }
    CUuserObject object() const noexcept { return object_; }

    std::uint32_t add_pending(Opaque first, Opaque second) noexcept {
        Owners& owners = slots_[used_].owners;
        owners.first = std::move(first);
        owners.second = std::move(second);
        ++pending_;
        return used_++;
    }
    void rollback(std::uint32_t index) noexcept;
    void commit(std::uint32_t index, NodeRecord& node) noexcept;
    const Owners& owners(std::uint32_t index) const noexcept { return slots_[index].owners; }

    // The same where no node is on record (exec_owners.hpp).
    void keep(std::uint32_t) noexcept { --pending_; }
    Owners take_back(std::uint32_t index) noexcept;
    bool holds(const Owners& owners) const noexcept;

    // The node goes, its owners stay with whoever shares this page.
    void leave(std::uint32_t index) noexcept;
    // The nodes go to empty pages with room for them, together with copies of their owners.
    void move_nodes_to(const std::vector<OwnerPage*>& targets) noexcept;

  private:
    friend class OwnerPages;  // keeps its pages in a list

    struct Slot {
        Owners owners;
        NodeRecord* node = nullptr;  // of the graph that made the page, which outlives this use of it
    };

    CUuserObject object_ = nullptr;
    bool loose_ = true;
    OwnerPage* previous_ = nullptr;  // of the pages of one graph
    OwnerPage* next_page_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t used_ = 0;
    std::uint32_t pending_ = 0;
    std::uint32_t nodes_ = 0;
    std::unique_ptr<Slot[]> slots_;
    Counted<Kind::kUserObject> counted_;
};

// A copy of what is there.
Owners owners_of(OwnerSlot slot) noexcept;

// The pages of one graph. To give a node owners: prepare, then the driver call that makes or changes the node, then
// commit or rollback. So a failure leaves neither a stray owner nor an unprotected node.
class OwnerPages {
  public:
    OwnerPages() = default;
    ~OwnerPages() { drop_loose(); }
    OwnerPages(const OwnerPages&) = delete;
    OwnerPages& operator=(const OwnerPages&) = delete;

    // Attaches owners to the graph; no page and a noted error on failure.
    OwnerSlot prepare(CUgraph graph, Opaque first, Opaque second) noexcept {
        if ((open_ == nullptr || open_->is_full()) && !open_page(graph)) return {};
        return {open_, open_->add_pending(std::move(first), std::move(second))};
    }
    void rollback(OwnerSlot slot) noexcept;
    // Makes them those of the node, and releases what it had.
    void commit(CUgraph graph, OwnerSlot slot, NodeRecord& node) noexcept;

    // Lets go of what a node kept. Where the driver refuses, it stays until the graph goes.
    void release(CUgraph graph, OwnerSlot slot) noexcept;

    // Something is about to share the pages with the graph: it shall not keep the owners of later nodes.
    void seal() noexcept { open_ = nullptr; }

    // The graph takes all pages, from now on. On failure those that are left are ours still.
    CUresult share(CUgraph graph) noexcept;

    // From here on the graph is the driver's: no page is attached to it; until it is ours (again).
    void begin_capture() noexcept;
    CUresult end_capture(CUgraph graph) noexcept;

    // The graph is gone, and with it its references.
    void forget_all() noexcept;

    // All pages.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const OwnerPage* page : {first_, loose_})
            for (; page != nullptr; page = page->next_page_) visit(*page);
    }

  private:
    bool open_page(CUgraph graph) noexcept;
    OwnerPage* add_page(CUgraph graph, std::uint32_t size) noexcept;
    bool add_pages_for(CUgraph graph, std::uint32_t nodes, std::vector<OwnerPage*>& pages) noexcept;
    void remove_page(OwnerPage& page) noexcept;
    void link(OwnerPage& page) noexcept;
    void drop_loose() noexcept;
    OwnerPage*& list_of(const OwnerPage& page) noexcept { return page.is_loose() ? loose_ : first_; }

    CUresult attach_loose(CUgraph graph) noexcept;

    OwnerPage* first_ = nullptr;  // full or sealed or not; the graph's references keep them
    OwnerPage* loose_ = nullptr;  // those that are not the graph's
    bool is_shared_ = false;
    bool is_captured_ = false;
    OwnerPage* open_ = nullptr;  // where new owners go
};

}  // namespace cg

#endif

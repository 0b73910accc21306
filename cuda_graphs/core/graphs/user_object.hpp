// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Resources that a graph's nodes need after their Python objects are gone (kernels, arguments, callbacks, events,
// operands) are attached to the CUgraph as CUDA user objects. Clones keep them too, and executables can
// (executable.hpp). One user object, called a page, holds the owners of many nodes. Adding a node then costs a handle
// copy instead of two driver calls. A page that a clone or executable may share with the graph is never emptied.
// Releasing the owners of one node moves the other owners to new pages instead. The pages of a graph grow, so that
// large graphs have few pages. Pages for moved owners are small, so that the next release is cheap.
// docs/design/2026-11-node-owners.md gives the reasons.
//
// Foreign code can copy a graph only after it was given the raw handle. Therefore pages are loose at first: this
// library holds the reference instead of the graph. This saves the driver calls that attach pages to the graph and that
// detach them while an executable is made or updated. The pages are attached when the raw handle is given away or the
// graph is embedded. They are not attached during a capture, when the driver owns the graph and destroys it if the
// capture is spoiled.
//
// There is no lock: callers hold the GIL, except during driver calls.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_USER_OBJECT_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_USER_OBJECT_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

#include "core/handles/box.hpp"
#include "core/handles/deferred.hpp"
#include "record_memory.hpp"

namespace cg {

struct NodeRecord;

// The objects that one node keeps alive.
struct Owners {
    Opaque first;
    Opaque second;

    explicit operator bool() const noexcept { return first || second; }
};

template <class T>
Opaque as_owner(const std::shared_ptr<T>& handle) noexcept {
    return handle;
}

// Releases one reference. Called without locks, since a failure issues a warning.
void release_object(CUuserObject object) noexcept;

// Returns one owner that holds several owners.
Opaque bundle(std::vector<Opaque> owners);

// Returns an owner of a copy of the bytes. `get()` is the address of the copy.
Opaque copy_bytes(const void* data, std::size_t size);

class OwnerPage;

// The place of a node's owners in a graph. `page` is null for a node without owners.
struct OwnerSlot {
    OwnerPage* page = nullptr;
    std::uint32_t index = 0;
};

// Returns true when the slot holds these very owners, so that no update is needed.
bool holds(OwnerSlot slot, const Owners& owners) noexcept;

// The payload of one user object: owners of many nodes.
class OwnerPage final : public Deferred {
  public:
    // Creates a page of `size` slots and one reference to it, which `graph` gets, or this library when `graph` is null.
    // Returns null with a noted error on failure.
    static OwnerPage* create(CUgraph graph, std::uint32_t size) noexcept;

    // Moves this library's reference to the graph; keeps it when the driver refuses.
    CUresult attach(CUgraph graph) noexcept;
    // Releases the one reference. The page must not be used afterwards.
    void drop(CUgraph graph) noexcept;

    bool is_loose() const noexcept { return loose_; }
    std::uint32_t size() const noexcept { return size_; }
    bool is_full() const noexcept { return used_ == size_; }
    bool has_pending() const noexcept { return pending_ != 0; }
    std::uint32_t nodes() const noexcept { return nodes_; }
    CUuserObject object() const noexcept { return object_; }

    std::uint32_t add_pending(Owners&& owners) noexcept { return add_slot(std::move(owners), used_); }
    // Does the same for one owner, which the caller keeps alive meanwhile. The slots of many nodes of one kernel share
    // it, so that an added node counts no reference.
    template <class T>
    std::uint32_t add_pending(const std::shared_ptr<T>& lent) noexcept {
        if (lent.get() == shared_) return add_slot({}, shared_by_);
        shared_ = lent.get();
        shared_by_ = used_;
        return add_slot({lent, {}}, used_);
    }
    void rollback(std::uint32_t index) noexcept;
    void commit(std::uint32_t index, NodeRecord& node) noexcept {
        --pending_;
        slots_[index].node = &node;
        ++nodes_;
    }
    const Owners& owners(std::uint32_t index) const noexcept { return slots_[slots_[index].holder].owners; }

    // The same operations for a page whose nodes have no record (executable_owners.hpp).
    void keep(std::uint32_t) noexcept { --pending_; }
    Owners take_back(std::uint32_t index) noexcept;
    bool holds(const Owners& owners) const noexcept;

    // Detaches the node from its slot. Its owners stay, for the other holders of this page.
    void leave(std::uint32_t index) noexcept;
    // Moves the nodes to empty pages with enough slots, together with copies of their owners.
    void move_nodes_to(const std::vector<OwnerPage*>& targets) noexcept;

  private:
    friend class OwnerPages;  // links its pages in a list

    struct Slot {
        Slot(Owners what, NodeRecord* whose, std::uint32_t by) noexcept
            : owners(std::move(what)), node(whose), holder(by) {}

        Owners owners;         // empty if another slot holds them
        NodeRecord* node;      // node of the graph that made the page; outlives this use of the slot
        std::uint32_t holder;  // index of the slot that holds the owners
    };

    bool make_room(std::uint32_t size) noexcept;
    std::uint32_t add_slot(Owners&& owners, std::uint32_t holder) noexcept {
        slots_.emplace_back(std::move(owners), nullptr, holder);
        ++pending_;
        return used_++;
    }

    CUuserObject object_ = nullptr;
    bool loose_ = true;
    OwnerPage* previous_ = nullptr;  // previous page of the same graph
    OwnerPage* next_page_ = nullptr;
    std::uint32_t size_ = 0;  // maximum number of slots, for which there is room
    std::uint32_t used_ = 0;  // number of slots
    std::uint32_t pending_ = 0;
    std::uint32_t nodes_ = 0;
    std::uint32_t shared_by_ = 0;   // the slot that holds `shared_`
    const void* shared_ = nullptr;  // the last owner that slots share; null without one
    std::pmr::vector<Slot> slots_{&record_memory()};
    Counted<Kind::kUserObject> counted_;
};

// Returns a copy of the owners in the slot.
Owners owners_of(OwnerSlot slot) noexcept;

// The pages of one graph. To give owners to a node, call prepare, then the driver call that makes or changes the node,
// then commit or rollback. A failure leaves neither a stray owner nor an unprotected
// node, unless another thread has added a node meanwhile: then an owner stays until its page ends.
class OwnerPages {
  public:
    OwnerPages() = default;
    ~OwnerPages() { drop_loose(); }
    OwnerPages(const OwnerPages&) = delete;
    OwnerPages& operator=(const OwnerPages&) = delete;

    // Attaches owners to the graph; returns a slot without a page and a noted error on failure.
    OwnerSlot prepare(CUgraph graph, Owners&& owners) noexcept {
        if (!has_room(graph)) return {};
        return {open_, open_->add_pending(std::move(owners))};
    }
    // Does the same for one owner, which the caller keeps alive meanwhile.
    template <class T>
    OwnerSlot prepare(CUgraph graph, const std::shared_ptr<T>& lent) noexcept {
        if (!has_room(graph)) return {};
        return {open_, open_->add_pending(lent)};
    }
    void rollback(OwnerSlot slot) noexcept;
    // Makes the prepared owners those of the node, and releases its previous owners.
    void commit(CUgraph graph, OwnerSlot slot, NodeRecord& node) noexcept;

    // Releases the owners of a node. If the driver refuses, they stay until the graph is destroyed.
    void release(CUgraph graph, OwnerSlot slot) noexcept;

    // Closes the open page before a clone or executable shares the pages, so that it does not keep the owners of later
    // nodes.
    void seal() noexcept { open_ = nullptr; }

    // Attaches all pages to the graph, now and from now on. On failure the remaining pages stay loose.
    CUresult share(CUgraph graph) noexcept;

    // Stops attaching pages, since the driver owns the graph during a capture; end_capture resumes.
    void begin_capture() noexcept;
    CUresult end_capture(CUgraph graph) noexcept;

    // Drops the list of pages, after the graph and its references were destroyed.
    void drop_all() noexcept;

    // Visits all pages.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const OwnerPage* page : {first_, loose_})
            for (; page != nullptr; page = page->next_page_) visit(*page);
    }

  private:
    bool has_room(CUgraph graph) noexcept { return (open_ != nullptr && !open_->is_full()) || open_page(graph); }
    bool open_page(CUgraph graph) noexcept;
    OwnerPage* add_page(CUgraph graph, std::uint32_t size) noexcept;
    bool add_pages_for(CUgraph graph, std::uint32_t nodes, std::vector<OwnerPage*>& pages) noexcept;
    void remove_page(OwnerPage& page) noexcept;
    void link(OwnerPage& page) noexcept;
    void drop_loose() noexcept;
    OwnerPage*& list_of(const OwnerPage& page) noexcept { return page.is_loose() ? loose_ : first_; }

    CUresult attach_loose(CUgraph graph) noexcept;

    OwnerPage* first_ = nullptr;  // attached pages, kept alive by the graph's references
    OwnerPage* loose_ = nullptr;  // pages that are not attached to the graph
    bool is_shared_ = false;
    bool is_captured_ = false;
    OwnerPage* open_ = nullptr;  // page that receives new owners
};

}  // namespace cg

#endif

// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Owners of an executable: its references to user objects, and a record that shows the end of its last use. A user
// object attached to the executable itself would cost each launch a microsecond. docs/design/2026-11-exec-owners.md
// describes the design.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_OWNERS_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_EXECUTABLE_OWNERS_HPP

#include <cuda.h>

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "core/resources/context.hpp"
#include "core/resources/event.hpp"
#include "core/resources/stream.hpp"
#include "definition.hpp"
#include "user_object.hpp"

namespace cg {

// Shows the end of the last launch. "Each launch is ordered behind both any previous work in hStream and any previous
// launches of graphExec" (cuda.h, cuGraphLaunch), so the end of the last launch is the end of all launches.
struct LastUse {
    StreamHandle stream;  // stream that cannot be destroyed earlier (for the legacy default stream: the context's), or
    EventHandle event;    // event recorded behind the launch, for a stream that may be destroyed or change its meaning
    ContextHandle context;
    bool is_end_unknown = false;  // neither recording the event nor waiting succeeded, so the end is unknown
    bool is_shared = false;       // shared with parked owners: the event is not recorded again

    bool is_of(CUstream raw) const noexcept;
};

// The two kinds of uses, each with its own LastUse.
enum class Use { kLaunch, kUpload };

// prepare_use fills `next` with a way to see the end of a use of `stream`, before the use; mark_end completes it
// afterwards.
CUresult prepare_use(const LastUse& last, const StreamHandle& stream, LastUse* next);
void mark_end(LastUse& use, const StreamHandle& stream);

// Owners of replaced values, and the end of the last launch that may use them.
struct ParkedValues {
    LastUse end;
    std::vector<Opaque> owners;
};

// Owners of replaced values whose launches have no mark behind them yet.
struct UnmarkedValues {
    std::vector<Opaque> owners;
    std::size_t bytes = 0;  // of their memory
    int launches = 0;       // since the first of them was replaced
};

// There is no lock: the caller holds the executable's mutex, or is the only user of the executable.
class ExecOwners {
  public:
    LastUse& last(Use use) noexcept { return uses_[static_cast<std::size_t>(use)]; }
    bool empty() const noexcept { return objects_.empty(); }
    bool has_parked() const noexcept { return !parked_.empty() || !unmarked_.owners.empty(); }

    // Takes ownership of one reference to each object.
    void add(std::vector<CUuserObject>&& objects);
    // Returns true when the executable has exactly these objects: those of a definition whose owners did not change.
    bool are(const std::vector<HeldObject>& held) const noexcept;
    // Takes over the objects of `fresh`. `fresh` gets the previous objects, and the records of the uses that they must
    // outlive.
    void exchange(ExecOwners& fresh);
    // Owners of a single node are only added, since launches in flight may use the previous owners. The steps are those
    // of a definition's node (user_object.hpp). `prepare` leaves the slot without a page when there is nothing to add.
    CUresult prepare(const Owners& owners, OwnerSlot* slot);
    void commit(OwnerSlot slot) noexcept;
    [[nodiscard]] Owners rollback(OwnerSlot slot) noexcept;

    // Keeps the owner of a value (executable_parameters.hpp) until the launches so far are complete.
    void park(Opaque owner, std::size_t bytes);
    // Moves parked owners that are no longer needed to `gone`. The caller drops them after it releases the lock, since
    // Python may run. Called for each launch while there are parked owners. An event behind a launch costs more than
    // the launch, so it is recorded for 64 launches, or for 64 MiB of memory.
    void release_parked(std::vector<Opaque>& gone);
    // Gives the parked owners and `present` to a user object. On failure nothing has changed, unless the uses are over:
    // then the owners are leaked on purpose.
    CUresult hold_values(std::vector<Opaque> present);

    // Returns true when the uses are over or keep the owners alive themselves. Returns false when a query failed: CUDA
    // refuses queries inside host functions and during captures, so the caller tries again later and elsewhere. Owners
    // are leaked on purpose when the end of a use cannot be seen, and at interpreter exit, when they can no longer be
    // destroyed.
    bool outlive() noexcept;
    // Releases the objects, after `outlive` returned true.
    void release() noexcept;

  private:
    void mark_parked(std::vector<Opaque>& gone);
    CUresult outlive_uses() const noexcept;

    std::array<LastUse, 2> uses_;
    UnmarkedValues unmarked_;
    std::deque<ParkedValues> parked_;    // oldest first
    std::vector<CUuserObject> objects_;  // one reference to each
    OwnerPage* open_ = nullptr;          // page of the last object, for the owners of single nodes
    bool is_outlived_ = false;
};

// Releases owners that an executable has dropped, as soon as its launches no longer use them.
void release_after_uses(ExecOwners&& owners);

// Takes the references of a graph and of its bodies away for a scope, so that a clone or executable made in the scope
// gets none. Used under a GraphLock.
class DetachedOwners {
  public:
    explicit DetachedOwners(GraphBox& graph);
    ~DetachedOwners();
    DetachedOwners(const DetachedOwners&) = delete;
    DetachedOwners& operator=(const DetachedOwners&) = delete;

    const std::vector<HeldObject>& all() const noexcept { return all_; }
    // Adds another reference to each object, or to none on failure.
    CUresult keep(std::vector<CUuserObject>& kept) const;

  private:
    GraphBox& graph_;
    std::vector<HeldObject> all_;
    std::vector<HeldObject> detached_;
};

// Returns true for a failure that may succeed later: inside a host function, or during a capture.
bool is_passing(CUresult status) noexcept;

}  // namespace cg

#endif

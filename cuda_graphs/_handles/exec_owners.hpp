// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What an executable keeps alive: references to user objects, and a note where the end of its last use can be seen. A
// user object *on* an executable would cost each launch a microsecond. docs/design/2026-11-exec-owners.md says how.
#ifndef CUDA_GRAPHS_HANDLES_EXEC_OWNERS_HPP
#define CUDA_GRAPHS_HANDLES_EXEC_OWNERS_HPP

#include <cuda.h>

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "context.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "stream.hpp"
#include "user_object.hpp"

namespace cg {

// Where the end of the last launch can be seen. "Each launch is ordered behind both any previous work in hStream and
// any previous launches of graphExec" (cuda.h, cuGraphLaunch): so the last one stands for all.
struct LastUse {
    StreamHandle stream;  // a stream that lives as long as this (of the legacy default stream: that of the context), or
    EventHandle event;    // recorded behind the launch, where a stream may go or mean another one elsewhere
    ContextHandle context;
    bool lost = false;       // the event could not be recorded, nor the end waited for: nothing shows it any more
    bool is_shared = false;  // with parked owners: the event is not recorded again

    bool is_of(CUstream raw) const noexcept;
};

// The two kinds of uses. Each is followed on its own.
enum class Use { kLaunch, kUpload };

// How to see the end of a use of `stream` that is about to be made, given the last one; and behind it.
CUresult prepare_use(const LastUse& last, const StreamHandle& stream, LastUse* next);
void mark_end(LastUse& use, const StreamHandle& stream);

// Owners of values that were replaced, and the end of the last launch that may use them.
struct ParkedValues {
    LastUse end;
    std::vector<Opaque> owners;
};

// Not locked: the executable's mutex is held, or nobody else has it any more.
class ExecOwners {
  public:
    LastUse& last(Use use) noexcept { return uses_[static_cast<std::size_t>(use)]; }
    bool empty() const noexcept { return objects_.empty(); }
    bool has_parked() const noexcept { return !parked_.empty(); }

    // A reference to each of these is the executable's from now on.
    void add(std::vector<CUuserObject>&& objects);
    // Whether it has these and nothing else: those of a definition that has not changed what it keeps.
    bool are(const std::vector<HeldObject>& held) const noexcept;
    // Takes over what `fresh` has, and gives it what was, with the notes of the uses that it has to outlive.
    void exchange(ExecOwners& fresh);
    // What a single node needs from now on is only added, since launches in flight may use what was before. In steps,
    // as for a definition's node (user_object.hpp). `prepare` leaves the slot without a page when there is nothing to
    // add.
    CUresult prepare(const Owners& owners, OwnerSlot* slot);
    void commit(OwnerSlot slot) noexcept;
    [[nodiscard]] Owners rollback(OwnerSlot slot) noexcept;

    // Keeps owners of values (exec_parameters.hpp) until the launches that there were so far are over. `gone` gets
    // those that may go, to be dropped without the lock, since Python may run.
    void park(std::vector<Opaque> owners, std::vector<Opaque>& gone);
    // Has a user object keep the owners of values, those that are parked and `present`. On failure nothing was done;
    // only where all is over they are leaked on purpose.
    CUresult hold_values(std::vector<Opaque> present);

    // The uses are over, or take the owners along. False: a question failed, try again later and elsewhere; CUDA
    // refuses them inside host functions and during captures. Where nothing shows the end of a use, and at the
    // interpreter's end, when they could not be destroyed any more, the owners are leaked on purpose.
    bool outlive() noexcept;
    // To be called after that.
    void release() noexcept;

  private:
    CUresult outlive_uses() const noexcept;

    std::array<LastUse, 2> uses_;
    std::deque<ParkedValues> parked_;    // the oldest first
    std::vector<CUuserObject> objects_;  // a reference to each
    OwnerPage* open_ = nullptr;          // of the last of them: where the owners of single nodes go
    bool is_outlived_ = false;
};

// Owners that an executable has been rid of, while its launches may still use them: let go as soon as that is right.
void let_go(ExecOwners&& owners);

// Takes the references of a graph, and of the bodies in it, away for a scope: what is made of it meanwhile gets none.
// During a Making.
class DetachedOwners {
  public:
    explicit DetachedOwners(GraphBox& graph);
    ~DetachedOwners();
    DetachedOwners(const DetachedOwners&) = delete;
    DetachedOwners& operator=(const DetachedOwners&) = delete;

    const std::vector<HeldObject>& all() const noexcept { return all_; }
    // Another reference to each, or none on failure.
    CUresult keep(std::vector<CUuserObject>& kept) const;

  private:
    GraphBox& graph_;
    std::vector<HeldObject> all_;
    std::vector<HeldObject> detached_;
};

// May go well another time: inside a host function, or during a capture.
bool is_passing(CUresult status) noexcept;

}  // namespace cg

#endif

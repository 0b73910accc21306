// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// User objects and the references that graphs own.
#include "hostdriver/objects/graphs/user_object.hpp"

#include <cuda.h>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/graphs/graph.hpp"

namespace cgh {

CGH_API CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy, unsigned int initialRefcount,
                                    unsigned int flags) {
    return entry("cuUserObjectCreate", [&]() -> CUresult {
        REQUIRE(object_out != nullptr && destroy != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(initialRefcount != 0, CUDA_ERROR_INVALID_VALUE);
        // "Currently it is required to pass CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, which is the only defined flag"
        // (cuda.h).
        REQUIRE(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CUDA_ERROR_INVALID_VALUE);
        UserObject* const object = arena<UserObject>.create(ptr, destroy, initialRefcount);
        REQUIRE(object != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *object_out = to_handle(object);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
    return entry("cuUserObjectRetain", [&]() -> CUresult {
        UserObject* const user_object = cast<UserObject>(object);
        REQUIRE(user_object != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
        user_object->retain(count);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
    return entry("cuUserObjectRelease", [&]() -> CUresult {
        UserObject* const user_object = cast<UserObject>(object);
        REQUIRE(user_object != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(user_object->release(count), CUDA_ERROR_INVALID_VALUE);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
    return entry("cuGraphRetainUserObject", [&]() -> CUresult {
        Graph* const owner = cast<Graph>(graph);
        UserObject* const user_object = cast<UserObject>(object);
        REQUIRE(owner != nullptr && user_object != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(count != 0, CUDA_ERROR_INVALID_VALUE);
        // "The optional flag CU_GRAPH_USER_OBJECT_MOVE transfers references from the calling thread, rather than create
        // new references. Pass 0 to create new references" (cuda.h).
        REQUIRE((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) == 0, CUDA_ERROR_INVALID_VALUE);
        owner->user_objects().adopt(user_object, count);
        if (flags == 0) user_object->retain(count);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
    return entry("cuGraphReleaseUserObject", [&]() -> CUresult {
        Graph* const owner = cast<Graph>(graph);
        UserObject* const user_object = cast<UserObject>(object);
        REQUIRE(owner != nullptr && user_object != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(count != 0, CUDA_ERROR_INVALID_VALUE);
        owner->user_objects().release(user_object, count);
        return CUDA_SUCCESS;
    });
}

}  // namespace cgh

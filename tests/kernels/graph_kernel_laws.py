# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The laws of graph kernels, each with the tests that establish it. test_graph_fallbacks.py checks that
pytest finds these tests."""

REQUIREMENTS, LOOPS = "test_graph_requirements.py", "test_graph_loops.py"
FALLBACKS, DEFECTS = "test_graph_fallbacks.py", "test_graph_defects.py"

# File -> law -> the tests of that file.
LAWS = {
    REQUIREMENTS: {
        "only the flag of the decorator makes a kernel a graph": "a_kernel_is_a_graph_by_its_own_flag_only",
        "copies of arguments are not nodes": "copies_for_a_call_are_no_part_of_its_graph",
        "each parallel loop is one node, in the order of the program": "each_loop_is_a_node_behind_the_one_before_it",
        "all loops of a kernel are one graph": "loops_of_a_kernel_are_one_graph_made_of_nodes",
        "a later call launches and does nothing else": "the_first_call_builds_and_each_later_one_only_launches",
        "a call has the same form with and without a graph": "a_call_looks_as_it_does_without_a_graph",
        "the memory of a graph lives as long as the graph": "memory_of_a_graph_is_made_with_it_and_goes_with_it",
        "a graph does not change results": "results_are_those_of_the_kernel_without_a_graph",
        "a call uses its own arrays": "other_arrays_are_used_and_those_of_before_are_left_alone",
        "arrays of one type share a graph": "arrays_of_one_type_are_one_graph_whoever_made_them",
        "a call uses the extents of its own arrays": "no_size_of_an_earlier_call_stays",
        "a call uses its own numbers": "numbers_may_be_others_in_each_call",
        "other types, dimensions, fields and templates have another graph": (
            "arrays_of_other_types_and_dimensions_have_graphs_of_their_own",
            "each_field_has_an_entry_and_each_combination_too",
        ),
        "a loop over an empty array does nothing": "an_array_without_elements_is_nothing_to_do",
        "arrays of the host are copied in and back": "arrays_of_the_host_are_copied_in_and_back",
        "a flag is found by its place among the flattened parameters": (
            "members_of_structs_may_stand_before_and_after_the_flag"
        ),
        "every kind of parameter may stand beside a flag": "every_kind_of_parameter_may_stand_beside_a_flag",
    },
    LOOPS: {
        "any flag but 0 repeats the body": "the_body_runs_again_as_long_as_the_flag_is_not_0",
        "a body runs at least once": "the_body_runs_at_least_once",
        "a flag may be a parameter, a member, a field or a parameter of a called function": (
            "a_member_of_self_may_be_the_flag",
            "a_field_may_be_the_flag",
            "a_function_may_hold_the_loop",
        ),
        "the tasks of a body run in the order of the program": "tasks_of_a_body_stay_in_order",
        "loops nest, and stand beside each other": "loops_stand_in_each_other_beside_each_other_and_beside_tasks",
        "each launch arms the loops again": "each_launch_arms_the_loop_anew_and_replays_one_graph",
        "flags may change between launches without a new build": (
            "flags_may_alternate_a_thousand_times",
            "only_nodes_whose_arguments_changed_are_set_in_bodies_too",
            "array_may_be_the_flag_of_two_loops",
        ),
        "the device decides without the host": "the_device_decides_without_the_host",
        "all lowerings of a loop give the same results": "all_lowerings_agree",
        "a loop that is written or called wrongly is refused, and nothing runs": (
            "misuse_is_refused_and_nothing_runs",
            "a_flag_of_another_type_in_a_call_is_refused",
        ),
        "a loop needs graph=True": "a_loop_needs_the_flag_of_the_decorator",
    },
    FALLBACKS: {
        "a loop runs on the host where the device has no conditional nodes": (
            "a_loop_runs_on_the_host_where_the_device_has_no_conditional_nodes"
        ),
        "a graph kernel returns nothing": (
            "a_graph_kernel_that_returns_something_is_refused_when_it_is_decorated",
            "a_return_that_is_not_declared_is_refused_when_it_is_decorated_too",
            "a_return_in_a_branch_is_refused_by_the_compiler",
            "a_kernel_that_says_it_returns_none_may_be_a_graph",
        ),
        "the gradient of a graph kernel is not a graph": "a_gradient_is_no_graph",
        "CUDA_GRAPHS_KERNEL_GRAPHS turns graphs off for all kernels": (
            "the_environment_turns_graphs_off_and_results_stay"
        ),
        "reset() drops graphs, and the next call builds again": (
            "a_kernel_works_after_reset",
            "reset_forgets_each_kernel_there_is_and_no_array",
        ),
        "each device has a graph of its own": "each_device_has_a_graph_of_its_own",
        "tasks are launched one by one where the driver does not build the graph": (
            "tasks_are_launched_where_the_driver_does_not_build_the_graph"
        ),
        "a build that fails leaves nothing behind": (
            "a_build_that_fails_otherwise_is_an_error_and_may_be_tried_again"
        ),
        "a kernel from disk has the same loops, and nothing is compiled again": (
            "loops_of_a_kernel_from_disk_are_what_they_were"
        ),
        "a node has the attribute for more than 48 KiB of shared memory": (
            "nodes_whose_blocks_share_more_than_usual_have_the_attribute_for_it",
            "a_device_that_has_less_memory_for_blocks_says_so",
        ),
        "graph_stats counts graphs, builds, nodes and tasks": (
            "counters_have_these_names",
            "the_counters_tell_of_the_last_call",
        ),
        "the guide says what a loop on the host costs": (
            "the_guide_says_what_a_loop_on_the_host_costs_and_what_to_do"
        ),
    },
    DEFECTS: {
        "no statement moves over the edge of a loop": "nothing_moves_over_the_edge_of_a_loop",
        "a condition around a loop is a condition of the graph": (
            "a_condition_around_a_loop_is_refused_and_nothing_runs",
            "a_condition_around_a_loop_may_be_one_of_the_graph",
        ),
        "an operand behind a false guard is not evaluated": "statement_behind_a_false_guard_does_not_run",
        "products of a parallel loop are atomic": "multiplying_in_a_parallel_loop_loses_nothing",
        "floats convert to bool and have remainders": "floats_become_bools_and_have_remainders",
        "wrong indices, numbers and arrays are errors": "wrong_indices_and_numbers_and_arrays_are_errors",
        "NaN differs from itself": "nan_differs_from_itself",
        "a bool and an integer give the integer's type": (
            "a_bool_with_an_integer_is_the_integer_in_any_order"
        ),
    },
}


def names_of_tests(laws: dict[str, str | tuple[str, ...]]) -> list[str]:
    """The names of the tests of all laws of a file."""
    return [
        f"test_{name}" for names in laws.values() for name in ((names,) if isinstance(names, str) else names)
    ]

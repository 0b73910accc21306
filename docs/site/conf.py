# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of Sphinx for the pages that docs/site/staging.py writes."""

project = "cuda_graphs"
author = "The cuda_graphs authors"
copyright = "2026 The cuda_graphs authors"  # noqa: A001

extensions = ["myst_parser"]
root_doc = "index"
source_suffix = {".md": "markdown"}

# The slugs of headings are those that tests/repo/test_docs.py checks.
myst_heading_anchors = 6
myst_enable_extensions = ["colon_fence", "html_image"]

html_theme = "furo"
html_title = "cuda_graphs"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
python_display_short_literal_types = True
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 88

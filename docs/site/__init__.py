# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: `python -m docs.site` builds it in docs/_build/html with Sphinx.

Sphinx reads docs/_build/pages. `staging` writes this folder at each build: the pages of docs/ and of OUTSIDE with their
links as they are in the site, a page for each example, and the pages of `api`. Nothing in it is edited by hand.

Other files may import:
    pages       the pages of the site, their names in it, and their links
    docstrings  docstrings of this package as Markdown
    api         a page for each public class, and pages of the functions
    staging     writes all of them for Sphinx
    html_links  checks the links of the built pages
"""

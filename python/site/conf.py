"""The site: docs/, the package's docstrings and notebooks (tools/site.sh)."""

import importlib.util

import kernelwright

project, author = "Kernelwright", "Kernelwright"
version = release = kernelwright.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
html_theme = "furo"
html_title = f"Kernelwright {version}"
html_copy_source = False
highlight_language = "none"
myst_heading_anchors = 4
# Pages link to files of the repository, too, which are no pages; tools/check/check_docs.sh holds every link.
suppress_warnings = ["myst.xref_missing", "myst.header"]
nb_execution_mode = "cache"
nb_execution_timeout = 240
nb_execution_raise_on_error = True
# PyTorch is large: where it is not, pages that need it are shown without what they print, and kernelwright.torch is read without running it.
if not importlib.util.find_spec("torch"):
    nb_execution_excludepatterns = ["notebooks/pytorch-faster*"]
    autodoc_mock_imports = ["torch"]
numpydoc_show_class_members = False
autodoc_member_order = "bysource"

"""Model files: trees of immutable objects, as named tensors under a header. Nothing in a file is ever run."""

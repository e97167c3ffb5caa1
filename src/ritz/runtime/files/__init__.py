"""Model files: trees of immutable objects, as named tensors under a header. Nothing in a file is ever run.

Comes in: a tree of dataclasses and arrays, and the table of what may appear in it.
Goes out: a safetensors file with a checksum, and the same tree from it, every field checked.
A new kind of value belongs into `encoding` and `decoding`. What a model consists of, and what a file may hold in its
fields, is written in the modules `state` of `pca`, `kernels` and `sensing`, for `pca` also in `model_file`.
"""

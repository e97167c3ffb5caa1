"""Model files: trees of immutable objects, as named tensors under a header. Nothing in a file is ever run.

Comes in: a tree of dataclasses and arrays, and the table of what may appear in it.
Goes out: a safetensors file with a checksum, and the same tree from it, every field checked.
A new kind of value belongs into `encoding` and `decoding`. What a model consists of is not written here but in the
module `state` of its package, and what a file may hold in these fields in its table `FORMS` (that of PCA is in
`pca.model_file`).
"""

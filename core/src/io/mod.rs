//! Bytes from the outside world: files, pipes and host objects in, decompressed pieces out.

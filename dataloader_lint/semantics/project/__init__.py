"""The files of a project: found, read as texts first, opened when a name leads there."""

"""One file a library, or a group of small ones: `ROWS`, what its calls do by qualified name."""

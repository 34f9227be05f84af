"""Trees of files, and what is told from them alone: scopes, names, and which place comes before which."""

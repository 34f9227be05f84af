"""Trees of files, and what follows from them alone: scopes, names, and which place comes before which."""

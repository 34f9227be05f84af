"""`doctor --prove`: each finding and its fix, tried on the program itself, in a copy of the project."""

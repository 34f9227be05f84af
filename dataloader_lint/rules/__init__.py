"""The rules: one file each, one folder a family."""

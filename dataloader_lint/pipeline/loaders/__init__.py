"""Where loaders come from, what they are given, and the loops over them."""

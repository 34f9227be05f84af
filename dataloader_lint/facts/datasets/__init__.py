"""Dataset classes: which are some, how their objects are made, and how workers read them."""

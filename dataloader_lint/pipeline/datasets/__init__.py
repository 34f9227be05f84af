"""Dataset classes: how they are recognized, how they are constructed, and how workers read them."""

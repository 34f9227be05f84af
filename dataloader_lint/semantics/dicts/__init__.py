"""What dicts hold, and what changes them."""

"""Which places are reached, and what tests leave of the values there."""

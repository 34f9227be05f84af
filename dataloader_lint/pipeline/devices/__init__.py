"""Moves of tensors, and the devices that they go to."""

"""Dataset classes: what their objects keep, how that grows, and how workers read it."""

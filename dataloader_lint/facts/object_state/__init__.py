"""What the objects of Dataset classes keep, how that grows, and which of it workers read for every sample."""

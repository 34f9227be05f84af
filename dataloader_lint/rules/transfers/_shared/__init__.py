"""What several rules about moves of batches ask."""

"""What happens to batches on their way to a device: facts for the rules DL4xx."""

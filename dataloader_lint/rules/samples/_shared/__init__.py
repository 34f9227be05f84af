"""What several rules about samples ask: what depends on the sample, worker, epoch."""

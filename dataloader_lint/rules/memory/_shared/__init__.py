"""What several rules about memory ask: what Datasets store, and how workers read it."""

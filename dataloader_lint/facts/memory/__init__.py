"""Containers that grow in workers: facts for the rules DL1xx; what Datasets keep is in `facts.object_state`."""

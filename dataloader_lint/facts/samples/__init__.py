"""Which samples come out of workers, in which order, and at what cost: facts for the rules DL6xx."""

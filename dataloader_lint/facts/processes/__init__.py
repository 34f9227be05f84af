"""How worker processes start, and what cannot go to them or back: facts for the rules DL2xx."""

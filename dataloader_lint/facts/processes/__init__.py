"""How worker processes start, and what cannot be sent to them or back: facts for the rules DL2xx."""

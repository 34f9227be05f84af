"""What the arguments of a loader say together: facts for the rules DL3xx."""

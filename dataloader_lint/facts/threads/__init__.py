"""Threads inside workers: facts for the rules DL5xx."""

"""What several rules about arguments ask."""

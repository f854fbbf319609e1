"""What trained judges read: features of answers against their references."""

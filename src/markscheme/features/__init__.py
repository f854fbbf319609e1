"""What trained judges read: features of answers beside their references."""

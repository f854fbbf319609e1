"""The cross-encoders with a token head: how they were trained, and their trained state."""

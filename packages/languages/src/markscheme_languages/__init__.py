"""The encoder for other languages than English (`weights/`), and its measured accuracy."""

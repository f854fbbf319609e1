"""Speed and memory beside the libraries people use today: `make bench`."""

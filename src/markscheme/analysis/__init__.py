"""Why answers fail: failure modes of exact match, errors of judges, and probes for their biases."""

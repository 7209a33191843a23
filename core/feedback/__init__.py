"""Who says that an answer is correct, and what kind of failure it is when it is not."""

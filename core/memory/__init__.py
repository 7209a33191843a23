"""Causal episodic memory: entries, their deltas, and the retrieval that may return them."""

"""Data sets: questions, their databases, and the gold that only the evaluator sees."""

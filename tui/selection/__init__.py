"""What the commands of selection share: the panel that chooses, and how its choices are told."""

"""A city clinic with a legacy schema of abbreviated upper-case names."""

"""An online food market: a table called order, and prices in columns with spaces."""

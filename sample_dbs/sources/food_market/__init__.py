"""An online food market whose schema is full of spaces and reserved words."""

"""A small metro operator: lines, timetabled trips, delays and staff, in CamelCase."""

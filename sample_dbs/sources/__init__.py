"""Where the sample databases come from: a schema, a seeded generator and questions for each."""

"""Pictures of tables. Each function draws one, in the formats of all `outputs`."""

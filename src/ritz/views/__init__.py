"""What people look at: text and reports now, plots to come."""

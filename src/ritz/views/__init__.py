"""What people look at: text now, plots and reports to come."""

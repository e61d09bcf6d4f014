"""Text that others wrote: cleaned before an agent reads it, made harmless before Whilly posts it, fit for names."""

"""Running judges: plan (each distinct item once), judge in batches, save as it goes, resume."""

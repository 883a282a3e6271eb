"""What reads texts and files of others never fails in a way that is not documented."""

"""Who may talk to the local page: the one browser that was given its token, and no other site."""

"""Parts that several protocols of other clients share."""

"""Existing repositories in the studio: their dev server in the sandbox, its preview, and changes as branches."""

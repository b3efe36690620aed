"""Notifications of a server: signed webhooks, ntfy and Web Push."""

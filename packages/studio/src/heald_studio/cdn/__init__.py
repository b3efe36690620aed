"""Answers for addresses of CDNs, font services and placeholder images, from this machine."""

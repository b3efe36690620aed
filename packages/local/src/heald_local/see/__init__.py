"""Reads a screenshot: regions, boxes, ink, text and pictures."""

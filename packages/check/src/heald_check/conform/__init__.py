"""Conformance: probes of a model server, strict readers of its answers, and judges."""

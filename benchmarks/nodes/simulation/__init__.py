"""A simulation of several nodes on one database: one process, virtual time, random faults from a seed."""

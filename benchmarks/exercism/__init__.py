"""Exercises of Exercism's Python track, done by command lines of coding agents with one model."""

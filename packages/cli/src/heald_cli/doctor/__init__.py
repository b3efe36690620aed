"""The rows of `heald doctor` about this machine, the settings and the models."""

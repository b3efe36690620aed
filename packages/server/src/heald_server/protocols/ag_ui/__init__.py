"""AG-UI: the protocol of CopilotKit and other agent pages."""

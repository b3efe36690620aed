"""HTTP/1.1 as far as a model's API needs it: POST, a streamed answer, connections that are kept. No redirects."""

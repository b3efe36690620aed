"""An HTTP/1.1 client: streamed responses, pooled connections, proxies. No redirects and no cookies."""

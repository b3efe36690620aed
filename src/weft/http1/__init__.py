"""HTTP/1.1 as far as Weft asks others: streamed answers, kept connections, proxies. No redirects and no cookies."""

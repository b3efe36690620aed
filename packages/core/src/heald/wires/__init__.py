"""Codecs of provider APIs: requests out, streams in. No I/O."""

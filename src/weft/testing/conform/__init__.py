"""Conformance the other way round: real requests to somebody's server, and what that server gets wrong.

`plain` reads answers without the decoders, as the API's text says; `probes` are the requests; `expect`, `refusals` and
`rules` judge the answers; `checks` is the list of all of it, and `bench` runs it.
"""

from client.limits import LONGEST_PAUSE, MOST_RETRIES


def send(request, transport, config):
    """Sends a request, again after a failure."""
    retries = min(config["retries"], MOST_RETRIES)
    pause = min(config["pause"], LONGEST_PAUSE)
    for attempt in range(retries + 1):
        if transport.send(request):
            return attempt
        transport.sleep(pause)
    raise ConnectionError(f"{retries} retries failed.")

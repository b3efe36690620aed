from notes.config import load_config


def base_address(path="notes.json"):
    config = load_config(path)
    return f"http://{config['host']}:{config['port']}/"

import argparse

from backups.cleaning import clean


def main():
    parser = argparse.ArgumentParser(prog="backups")
    parser.add_argument("folder")
    parser.add_argument("--keep", type=int, default=3)
    options = parser.parse_args()
    for name in clean(options.folder, options.keep):
        print(f"deleted {name}")


if __name__ == "__main__":
    main()

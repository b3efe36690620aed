import argparse

from backups.cleaning import clean


def main():
    parser = argparse.ArgumentParser(prog="backups")
    parser.add_argument("folder")
    parser.add_argument("--keep", type=int, default=3)
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    for name in clean(options.folder, options.keep, options.dry_run):
        print(f"{'would delete' if options.dry_run else 'deleted'} {name}")


if __name__ == "__main__":
    main()

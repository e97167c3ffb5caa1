"""`python -m ritz`."""

from ritz.cli import main

if __name__ == "__main__":
    main(prog_name="ritz")

"""`python -m ritz`."""

from ritz.cli import program

if __name__ == "__main__":
    program()

"""`python -m samesame`: the command line."""

from samesame.cli.main import main

if __name__ == "__main__":
    main()

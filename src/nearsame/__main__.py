"""`python -m nearsame`: the command line."""

from nearsame.cli.main import main

if __name__ == "__main__":
    main()

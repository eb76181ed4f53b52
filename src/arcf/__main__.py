"""`python -m arcf` is `arcf`."""

from arcf.cli.app import main

if __name__ == "__main__":
    main()

"""``python -m litepyramid`` is the command line."""

from litepyramid.cli import main

if __name__ == "__main__":
    main()

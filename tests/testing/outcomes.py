"""What came of a check, for the tests of the checker."""

from autodidax.errors import CheckError


def report_of(check, *args, **options):
    """The report of a check, whether it passes or raises."""
    try:
        return check(*args, **options)
    except CheckError as e:
        return e.report


def first_failure(check, *args, **options):
    """The first failure of a check that has to fail."""
    report = report_of(check, *args, **options)
    assert report.failures, f"not caught:\n{report}"
    return report.failures[0]


class Calls:
    """How often a function is called."""

    def __init__(self):
        self.count = 0

    def of(self, f):
        def run(*args):
            self.count += 1
            return f(*args)

        return run

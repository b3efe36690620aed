"""Facts about the Gregorian calendar."""

DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap_year(year):
    """Whether a year has 366 days: divisible by 4, but full centuries only if divisible by 400."""
    return year % 4 == 0


def days_in_month(year, month):
    if month == 2 and is_leap_year(year):
        return 29
    return DAYS[month - 1]

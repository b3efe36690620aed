import unittest

from dates import days_in_month


class DatesTest(unittest.TestCase):
    def test_april(self):
        self.assertEqual(days_in_month(2023, 4), 30)

    def test_february(self):
        self.assertEqual(days_in_month(2023, 2), 28)

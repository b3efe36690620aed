import unittest

from layout import wrap


class LayoutTest(unittest.TestCase):
    def test_width(self):
        self.assertEqual(wrap("one two three", 8), ["one two", "three"])

    def test_justify(self):
        self.assertEqual(wrap("one two three", 8, justify=True), ["one  two", "three"])

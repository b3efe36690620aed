import unittest

from invoice import total


class InvoiceTest(unittest.TestCase):
    def test_gold(self):
        self.assertEqual(total({"level": "gold"}, [{"quantity": 2, "price": 10.0}]), 18.0)

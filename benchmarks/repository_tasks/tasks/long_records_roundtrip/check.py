from datetime import date

from referee import load, text

records, table = load("fleet.records"), load("fleet.table")
insurances = table.read_table(text("data/insurances.tsv"), records.Insurance)
assert insurances[1].premium == 1020.0 and insurances[1].until == date(2026, 6, 30)
assert insurances[0].to_row() == ["P-100", "M-AB 12", "Nordstern", "412,50", "2025-12-31"]
assert table.read_table(table.write_table(insurances), records.Insurance) == insurances
vehicles = table.read_table(text("data/vehicles.tsv"), records.Vehicle)
assert table.write_table(vehicles) == text("data/vehicles.tsv")
lease = ["L1", "M-AB 12", "Leaso", "199,00", "2027-01-31"]
assert records.Lease.from_row(lease).to_row() == lease
charger = ["Yard", "22,00", "4", "no", "2022-02-02"]
assert records.Charger.from_row(charger).to_row() == charger
wash = records.Wash.from_row(["M-XY 7", "2024-03-01", "Basic", "9,90", "no"])
assert wash.summary() == "2024-03-01: Basic for M-XY 7, 9.90"
for name in "Driver Trip Refill Repair Garage Tyre Fine Toll Inspection Parking".split():
    assert callable(getattr(records, name).from_row) and callable(getattr(records, name).to_row)
assert len(text("fleet/records.py").splitlines()) > 390, "most of the file is gone"

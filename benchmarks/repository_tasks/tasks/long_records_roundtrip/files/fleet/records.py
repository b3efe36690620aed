"""The records of the fleet: every class is read from a row of a table and written to one.

Rows are lists of text. Numbers have a decimal comma, flags are "yes" or "no", and dates are in ISO format.
"""

from dataclasses import dataclass
from datetime import date


def _number(text):
    return float(text.replace(".", "").replace(",", "."))


def _decimal(number):
    return f"{number:.2f}".replace(".", ",")


def _flag(text):
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is neither yes nor no.")
    return text == "yes"


def _word(flag):
    return "yes" if flag else "no"


def _check_length(row, length, name):
    if len(row) != length:
        raise ValueError(f"A row of {name} has {length} columns, not {len(row)}.")


@dataclass
class Vehicle:
    """A vehicle of the fleet."""

    plate: str
    model: str
    seats: int
    mileage: int
    electric: bool

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "vehicle")
        return cls(
            plate=row[0],
            model=row[1],
            seats=int(row[2]),
            mileage=int(row[3]),
            electric=_flag(row[4]),
        )

    def to_row(self):
        return [
            self.plate,
            self.model,
            str(self.seats),
            str(self.mileage),
            _word(self.electric),
        ]

    def summary(self):
        return f"{self.plate}: {self.model} with {self.seats} seats, {self.mileage} km"


@dataclass
class Driver:
    """Somebody who may drive our vehicles."""

    number: int
    name: str
    licence: str
    points: int
    active: bool

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "driver")
        return cls(
            number=int(row[0]),
            name=row[1],
            licence=row[2],
            points=int(row[3]),
            active=_flag(row[4]),
        )

    def to_row(self):
        return [
            str(self.number),
            self.name,
            self.licence,
            str(self.points),
            _word(self.active),
        ]

    def summary(self):
        return f"{self.name} ({self.licence}), {self.points} points"


@dataclass
class Trip:
    """A trip that a driver made with a vehicle."""

    plate: str
    driver: int
    start: date
    end: date
    kilometres: int

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "trip")
        return cls(
            plate=row[0],
            driver=int(row[1]),
            start=date.fromisoformat(row[2]),
            end=date.fromisoformat(row[3]),
            kilometres=int(row[4]),
        )

    def to_row(self):
        return [
            self.plate,
            str(self.driver),
            self.start.isoformat(),
            self.end.isoformat(),
            str(self.kilometres),
        ]

    def summary(self):
        return f"{self.plate} from {self.start} to {self.end}: {self.kilometres} km"


@dataclass
class Refill:
    """Fuel or energy for a vehicle."""

    plate: str
    day: date
    litres: float
    price: float
    station: str

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "refill")
        return cls(
            plate=row[0],
            day=date.fromisoformat(row[1]),
            litres=_number(row[2]),
            price=_number(row[3]),
            station=row[4],
        )

    def to_row(self):
        return [
            self.plate,
            self.day.isoformat(),
            _decimal(self.litres),
            _decimal(self.price),
            self.station,
        ]

    def summary(self):
        return f"{self.day}: {self.litres:.1f} l at {self.station} for {self.price:.2f}"


@dataclass
class Repair:
    """Work that a garage did."""

    plate: str
    garage: str
    day: date
    cost: float
    warranty: bool

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "repair")
        return cls(
            plate=row[0],
            garage=row[1],
            day=date.fromisoformat(row[2]),
            cost=_number(row[3]),
            warranty=_flag(row[4]),
        )

    def to_row(self):
        return [
            self.plate,
            self.garage,
            self.day.isoformat(),
            _decimal(self.cost),
            _word(self.warranty),
        ]

    def summary(self):
        return f"{self.day}: {self.garage} repaired {self.plate} for {self.cost:.2f}"


@dataclass
class Garage:
    """A garage that we work with."""

    name: str
    city: str
    phone: str
    hourly: float
    certified: bool

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "garage")
        return cls(
            name=row[0],
            city=row[1],
            phone=row[2],
            hourly=_number(row[3]),
            certified=_flag(row[4]),
        )

    def to_row(self):
        return [
            self.name,
            self.city,
            self.phone,
            _decimal(self.hourly),
            _word(self.certified),
        ]

    def summary(self):
        return f"{self.name} in {self.city}, {self.hourly:.2f} per hour"


@dataclass
class Tyre:
    """A set of tyres in the store."""

    size: str
    season: str
    count: int
    bought: date
    depth: float

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "tyre")
        return cls(
            size=row[0],
            season=row[1],
            count=int(row[2]),
            bought=date.fromisoformat(row[3]),
            depth=_number(row[4]),
        )

    def to_row(self):
        return [
            self.size,
            self.season,
            str(self.count),
            self.bought.isoformat(),
            _decimal(self.depth),
        ]

    def summary(self):
        return f"{self.count} x {self.size} ({self.season}), {self.depth:.1f} mm"


@dataclass
class Insurance:
    """An insurance policy of a vehicle."""

    policy: str
    plate: str
    insurer: str
    premium: float
    until: date

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "insurance")
        return cls(
            policy=row[0],
            plate=row[1],
            insurer=row[2],
            premium=_number(row[3]),
            until=date.fromisoformat(row[4]),
        )

    def to_row(self):
        return [
            self.policy,
            self.plate,
            self.insurer,
            self.until.isoformat(),
            _decimal(self.premium),
        ]

    def summary(self):
        return f"{self.insurer} {self.policy} for {self.plate} until {self.until}"


@dataclass
class Fine:
    """A fine that a driver has to pay."""

    driver: int
    day: date
    place: str
    amount: float
    paid: bool

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "fine")
        return cls(
            driver=int(row[0]),
            day=date.fromisoformat(row[1]),
            place=row[2],
            amount=_number(row[3]),
            paid=_flag(row[4]),
        )

    def to_row(self):
        return [
            str(self.driver),
            self.day.isoformat(),
            self.place,
            _decimal(self.amount),
            _word(self.paid),
        ]

    def summary(self):
        return f"{self.day} {self.place}: {self.amount:.2f}"


@dataclass
class Toll:
    """A toll for a road."""

    plate: str
    day: date
    road: str
    amount: float
    axles: int

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "toll")
        return cls(
            plate=row[0],
            day=date.fromisoformat(row[1]),
            road=row[2],
            amount=_number(row[3]),
            axles=int(row[4]),
        )

    def to_row(self):
        return [
            self.plate,
            self.day.isoformat(),
            self.road,
            _decimal(self.amount),
            str(self.axles),
        ]

    def summary(self):
        return f"{self.day} {self.road}: {self.amount:.2f} for {self.axles} axles"


@dataclass
class Inspection:
    """A technical inspection."""

    plate: str
    day: date
    inspector: str
    passed: bool
    remarks: str

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "inspection")
        return cls(
            plate=row[0],
            day=date.fromisoformat(row[1]),
            inspector=row[2],
            passed=_flag(row[3]),
            remarks=row[4],
        )

    def to_row(self):
        return [
            self.plate,
            self.day.isoformat(),
            self.inspector,
            _word(self.passed),
            self.remarks,
        ]

    def summary(self):
        return f"{self.plate} on {self.day} by {self.inspector}: {self.remarks}"


@dataclass
class Lease:
    """A lease contract of a vehicle."""

    contract: str
    plate: str
    lessor: str
    monthly: float
    until: date

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "lease")
        return cls(
            contract=row[0],
            plate=row[1],
            lessor=row[2],
            monthly=_number(row[3]),
            until=date.fromisoformat(row[4]),
        )

    def to_row(self):
        return [
            self.contract,
            self.plate,
            self.lessor,
            _decimal(self.monthly),
            self.until.isoformat(),
        ]

    def summary(self):
        return f"{self.contract}: {self.plate} from {self.lessor}, {self.monthly:.2f} a month"


@dataclass
class Parking:
    """A parking space that we rent."""

    place: str
    level: int
    space: int
    monthly: float
    covered: bool

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "parking")
        return cls(
            place=row[0],
            level=int(row[1]),
            space=int(row[2]),
            monthly=_number(row[3]),
            covered=_flag(row[4]),
        )

    def to_row(self):
        return [
            self.place,
            str(self.level),
            str(self.space),
            _decimal(self.monthly),
            _word(self.covered),
        ]

    def summary(self):
        return f"{self.place}, level {self.level}, space {self.space}"


@dataclass
class Charger:
    """A charging station on our ground."""

    name: str
    kilowatts: float
    plugs: int
    public: bool
    installed: date

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "charger")
        return cls(
            name=row[0],
            kilowatts=_number(row[1]),
            plugs=int(row[2]),
            public=_flag(row[3]),
            installed=date.fromisoformat(row[4]),
        )

    def to_row(self):
        return [
            self.name,
            _decimal(self.kilowatts),
            str(self.plugs),
            _word(self.public),
            self.installed.isoformat(),
        ]

    def summary(self):
        return f"{self.name}: {self.plugs} plugs with {self.kilowatts:.0f} kW"


@dataclass
class Wash:
    """A visit to the car wash."""

    plate: str
    day: date
    programme: str
    price: float
    inside: bool

    @classmethod
    def from_row(cls, row):
        _check_length(row, 5, "wash")
        return cls(
            plate=row[0],
            day=date.fromisoformat(row[1]),
            programme=row[2],
            price=_number(row[3]),
            inside=_flag(row[4]),
        )

    def to_row(self):
        return [
            self.plate,
            self.day.isoformat(),
            self.programme,
            _decimal(self.price),
            _word(self.inside),
        ]

    def summary(self):
        return f"{self.day}: {self.programme} for {self.plate}, {self.price:.2f}"

"""A real PostgreSQL with TLS, and the certificates of its server, its clients and their authorities."""

import datetime
import ipaddress
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from postgres_server import PostgresServer, require_programs

_DAY = datetime.timedelta(days=1)


class Authority:
    """Signs certificates."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self.certificate = folder / f"{name}.crt"
        signed = _builder(self._name, self._name, self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        _write(self.certificate, signed.sign(self._key, hashes.SHA256()))

    def sign(self, file: str, name: str, *, is_expired: bool = False) -> tuple[Path, Path]:
        """Make a certificate for a name, which may be an IP address. Returns its file and that of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(name), self._name, key, days=-2 if is_expired else 0)
        try:
            other: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
        except ValueError:
            other = x509.DNSName(name)
        builder = builder.add_extension(x509.SubjectAlternativeName([other]), critical=False)
        certificate, secret = self._folder / f"{file}.crt", self._folder / f"{file}.key"
        _write(certificate, builder.sign(self._key, hashes.SHA256()))
        pem = serialization.Encoding.PEM
        secret.write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        secret.chmod(0o600)
        return certificate, secret


class TlsServer(PostgresServer):
    """A server that accepts connections with TLS only; with `verifies_clients`, only those with a certificate."""

    def __init__(
        self, programs: Path, folder: Path, authority: Authority, name: str, *, verifies_clients: bool, is_expired: bool
    ) -> None:
        self._name = name
        self.certificate, self.key = authority.sign("server", name, is_expired=is_expired)
        super().__init__(
            programs,
            folder,
            settings=(
                "ssl=on",
                f"ssl_cert_file={self.certificate}",
                f"ssl_key_file={self.key}",
                f"ssl_ca_file={authority.certificate}",
            ),
        )
        self._verifies_clients = verifies_clients

    def create(self) -> None:
        super().create()
        method = "scram-sha-256 clientcert=verify-full" if self._verifies_clients else "scram-sha-256"
        (self._data / "pg_hba.conf").write_text(f"hostssl all all 127.0.0.1/32 {method}\n")
        self._give_files()

    def renew(self, authority: Authority) -> None:
        """Show another certificate of the authority from the next start on."""
        authority.sign("server", self._name)
        self._give_files()

    def _give_files(self) -> None:
        if self._as_user is not None:
            for path in (self.certificate, self.key):
                shutil.chown(path, self._as_user)


@contextmanager
def running_tls_postgres(
    *, name: str = "127.0.0.1", verifies_clients: bool = False, is_expired: bool = False
) -> Generator[tuple[TlsServer, Authority]]:
    """A server that shows a certificate for a name, and the authority that has signed it."""
    programs = require_programs()
    folder = Path(tempfile.mkdtemp(prefix="heald-pg-tls-"))
    folder.chmod(0o755)
    authority = Authority(folder, "authority")
    server = TlsServer(programs, folder, authority, name, verifies_clients=verifies_clients, is_expired=is_expired)
    try:
        server.create()
        server.start()
        yield server, authority
    finally:
        server.stop(kill=True)
        shutil.rmtree(folder, ignore_errors=True)


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, *, days: int = 0
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC) + days * _DAY
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - _DAY).not_valid_after(now + _DAY)


def _write(path: Path, certificate: x509.Certificate) -> None:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

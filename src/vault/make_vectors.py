#!/usr/bin/env python3
"""Writes test_vectors.h: encrypted files of a local_encryption vault, made by other code than ours (python3-cryptography),
and SSH keys made by ssh-keygen and openssl. Usage: make_vectors.py <folder with plain, locked and legacy.pem>"""
import base64, hashlib, json, sys
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

folder = sys.argv[1]
read = lambda name: open(f"{folder}/{name}").read()
plain = read("plain")
body = base64.b64decode("".join(l for l in plain.splitlines() if l and not l.startswith("-----")))
key_file = "0b9c4b5e-0000-4000-8000-0123456789ab8f14e45f-0000-4000-8000-ba9876543210"
value = "s3cret \u00e9\u4e16\n'\"$"


def seal(material, text, version, n):
    salt, iv = bytes(range(n, n + 16)), bytes(range(n + 32, n + 44))
    key = hashlib.pbkdf2_hmac("sha256", material, salt, 100000, 32)
    b64 = lambda b: base64.b64encode(b).decode()
    data = AESGCM(key).encrypt(iv, text.encode(), None)
    return json.dumps({"iv": b64(iv), "data": b64(data), "salt": b64(salt), "version": version}, indent=2)


print("#pragma once\n\n// Made by make_vectors.py; keys that protect nothing.\n\nnamespace swamp::vectors {\n")
for name, text in [
    ("kValue", value), ("kKeyFile", key_file), ("kPlainSshKey", plain), ("kLockedSshKey", read("locked")),
    ("kLegacyLockedPem", read("legacy.pem")), ("kPublicKey", read("plain.pub")),
    ("kByKeyFile", seal(key_file.encode(), value, 2, 1)),
    ("kEmptyByKeyFile", seal(key_file.encode(), "", 2, 2)),
    ("kByKeyFileVersion1", seal(key_file.encode(), value, 1, 3)),
    ("kBySshBody", seal(body, value, 2, 4)),
    ("kBySshTextVersion1", seal(plain.encode(), value, 1, 5)),
    ("kBySshBodyVersion1", seal(body, value, 1, 6)),
    ("kVersion3", seal(key_file.encode(), value, 3, 7)),
    ("kAnnotation", seal(key_file.encode(), json.dumps({"updatedAt": "2026-01-02T03:04:05.006Z", "url": "https://e.x"},
                                                       separators=(",", ":")), 2, 8)),
]:
    print(f'inline constexpr const char* {name} =\n    R"v({text})v";\n')
print("}  // namespace swamp::vectors")

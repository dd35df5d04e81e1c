#pragma once

// Made by make_vectors.py; keys that protect nothing.

namespace swamp::vectors {

inline constexpr const char* kValue =
    R"v(s3cret é世
'"$)v";

inline constexpr const char* kKeyFile =
    R"v(0b9c4b5e-0000-4000-8000-0123456789ab8f14e45f-0000-4000-8000-ba9876543210)v";

inline constexpr const char* kPlainSshKey =
    R"v(-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACALVSf49KROjZfnQZxepd1iTmmCvxyXWvCfdgigCrdFmQAAAIg4/PsQOPz7
EAAAAAtzc2gtZWQyNTUxOQAAACALVSf49KROjZfnQZxepd1iTmmCvxyXWvCfdgigCrdFmQ
AAAECext71y6wo8orL19YKjXy8fCseSMnAdRKBd0KV9ZH/2wtVJ/j0pE6Nl+dBnF6l3WJO
aYK/HJda8J92CKAKt0WZAAAABHRlc3QB
-----END OPENSSH PRIVATE KEY-----
)v";

inline constexpr const char* kLockedSshKey =
    R"v(-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABCf1QO/f9
pzls9Sq5tP1ffDAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIPtDQcyJLFsInLm2
ooJG71eQ7C/EDhAYiMDl8aKqu53WAAAAkPdesd7V8S4NO55d5Sd3p+bI5t4RPzxeo6Yjee
Q/y9LgEs7B8y2oLcVjN4iWxA4AjkVsM8k4NpehAOyu8On5/ldGREjfJcsNOodJGwLRnJQy
ES3cldUbgxOiIWCdQd9ig1oaT11FtqEMk6iT0u2YMjjiCsus8p1xMw7rjzvs7CoFgW3jdW
3A1CytQpCsIxImtg==
-----END OPENSSH PRIVATE KEY-----
)v";

inline constexpr const char* kLegacyLockedPem =
    R"v(-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,9E651EA30E27E796AF5C48461FFC9B38

VIDi60SC+8BUQQHeaxdBes6bdg21PbWsFLWHHrdC2rXAv9kxhYQUQ+BqdWyiIWJA
p0aJcWWQmruZyQLSKSY/AFmvn6UFXit5ZMHq/j404j5xEfbbHC0JuONGCjkixZGj
xBfrAwCk5gXVPvESNrexBvf2Y/cXZI6xCCIS2PRwWdf6yOrcME9szBuiPWWqK5JI
54s+YhnmpiH0e8PDdNXKoHLB5HflECSjdai11bPumOROjZlK/bmO08pYJURa4qpu
BjoOgxAiugSQgNKRrgPRsjY8u/r5UrCcV1uBJ1qiZgnoXRJZbA5e9yH5T3UJiI6A
q2yjBufrFMUAYpiSuKOqQJSGPPe4A9wbZW1YXHtQnBHQGgAcoNahPyje9xbcbGoT
/k6iMdUUcAY5hCPGRL1jc4U5UBHns7cCDN2Un/ARWCMqEGAYuAeEseC6vf+7bIzy
u9A/RufSBFapiG1BR43OzrkmxSUaHIHbGrbZxNBfwcpzjpc4x6Qey2D3Lk/Ka7ON
2GrwsTc8hlWoraawqXRhyzxzd7Ys4UsCUZrsuxBaNzPtYhOkST2guLsYbfAKKtre
6wvP3BhVmuaPJIz2+2XFl+sx/4gchQa4Q6T3zF4wyZJtwDT5cZ0g4ZC87o11dFZJ
VYeVSR8pRJvtnOTbM5z4BdriUsjkplrKsoPNLdAB9xpV3SN9WT2gKpW15pOL4n/Y
LLm1CTYx67t4XJSrh+jTK38M2sTwIQE4FW3ALT284uuKWbj0tJGKrU4iTHDhAzHI
9h5wAv0A7lt64KYxtcX/gIZdIc3MgUaSa/4CZRhWyxnUIqtMLoSlVT0Y+YL2s7kS
-----END RSA PRIVATE KEY-----
)v";

inline constexpr const char* kPublicKey =
    R"v(ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAtVJ/j0pE6Nl+dBnF6l3WJOaYK/HJda8J92CKAKt0WZ test
)v";

inline constexpr const char* kByKeyFile =
    R"v({
  "iv": "ISIjJCUmJygpKiss",
  "data": "/JWCn7PAc87X7XLYFhzmthyomP/MfdvFrdiN3o2POpo=",
  "salt": "AQIDBAUGBwgJCgsMDQ4PEA==",
  "version": 2
})v";

inline constexpr const char* kEmptyByKeyFile =
    R"v({
  "iv": "IiMkJSYnKCkqKywt",
  "data": "jGifKhGA4WR2j8Xmeyi21w==",
  "salt": "AgMEBQYHCAkKCwwNDg8QEQ==",
  "version": 2
})v";

inline constexpr const char* kByKeyFileVersion1 =
    R"v({
  "iv": "IyQlJicoKSorLC0u",
  "data": "0UG0O/CaCJ/ix/loF90s6apHTS4ExZ14XN4jR6a7+CE=",
  "salt": "AwQFBgcICQoLDA0ODxAREg==",
  "version": 1
})v";

inline constexpr const char* kBySshBody =
    R"v({
  "iv": "JCUmJygpKissLS4v",
  "data": "ypxWHw01UOOvP0HsiKY/zVhlNyqHHHFchKQ6h4HGoKk=",
  "salt": "BAUGBwgJCgsMDQ4PEBESEw==",
  "version": 2
})v";

inline constexpr const char* kBySshTextVersion1 =
    R"v({
  "iv": "JSYnKCkqKywtLi8w",
  "data": "j5xEZ4T/7wR7manauNchJybz/iVweCOCNcoUUHiKgas=",
  "salt": "BQYHCAkKCwwNDg8QERITFA==",
  "version": 1
})v";

inline constexpr const char* kBySshBodyVersion1 =
    R"v({
  "iv": "JicoKSorLC0uLzAx",
  "data": "PzhonUBV6B8zrxKylq1a8NMifh+R129Uq88vt7xAvAw=",
  "salt": "BgcICQoLDA0ODxAREhMUFQ==",
  "version": 1
})v";

inline constexpr const char* kVersion3 =
    R"v({
  "iv": "JygpKissLS4vMDEy",
  "data": "ScUh1DRCafZzR42HbZsUELFtobf3wlfAjJnTPNElXxo=",
  "salt": "BwgJCgsMDQ4PEBESExQVFg==",
  "version": 3
})v";

inline constexpr const char* kAnnotation =
    R"v({
  "iv": "KCkqKywtLi8wMTIz",
  "data": "+q8jQG2MjUYo/CqClQrWdt42A99Ivzmki7MvHvCrDb/jHstbFitLvVlUfNgICsqnqqndqkTzmwmnevHm/pLVVDbz5936OZsWM0PBKg==",
  "salt": "CAkKCwwNDg8QERITFBUWFw==",
  "version": 2
})v";

}  // namespace swamp::vectors

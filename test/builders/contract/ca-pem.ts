/** A self-signed CA (P-256, valid for a hundred years) whose private key was not kept. */
export const caPem = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIURtQj0nSnfab2DgwXXJsQhEX53SMwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPVGVzdCBDbGllbnRzIENBMCAXDTI2MTEyMTA5NDMwNFoYDzIx
MjYxMDI4MDk0MzA0WjAaMRgwFgYDVQQDDA9UZXN0IENsaWVudHMgQ0EwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAARO36EXBrq66fMp13TwgroXv4fcHj7rrodTCgSc
XwOHR4paJKEUmqnGXyD3XJm5Vc976v+aqswaemLJvqlifhXIo2MwYTAdBgNVHQ4E
FgQU/MLCa6kicHfkxWVijda9M0G3xTUwHwYDVR0jBBgwFoAU/MLCa6kicHfkxWVi
jda9M0G3xTUwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZI
zj0EAwIDSAAwRQIhAInlWXLcC9pHrABOGqELWSE1QpJ6qElUKuFlzbYwYup/AiBr
ztlKrKPiv8PhmBKDUYLJBw9/Mu6NPXj3EgIlorJlmA==
-----END CERTIFICATE-----
`

/** `caPem` according to openssl. */
export const caFacts = {
  subject_common_name: 'Test Clients CA',
  not_before: '2026-11-21T09:43:04Z',
  not_after: '2126-10-28T09:43:04Z',
  key_usages: ['keyCertSign', 'crlSign'],
  extended_key_usages: [],
} as const

/** A CA with more usages, one of them without a name, and a common name beyond ASCII. Made by openssl like the rest. */
export const partnerCaPem = `-----BEGIN CERTIFICATE-----
MIIB/TCCAaOgAwIBAgIUeSOZnplt5wJH/ohiY9frVAANtdgwCgYIKoZIzj0EAwIw
MzEQMA4GA1UECgwHUGFydG5lcjEfMB0GA1UEAwwWUGFydG5lciBEw7xzc2VsZG9y
ZiBDQTAgFw0yNjExMjExNzM3MzlaGA8yMTI2MTAyODE3MzczOVowMzEQMA4GA1UE
CgwHUGFydG5lcjEfMB0GA1UEAwwWUGFydG5lciBEw7xzc2VsZG9yZiBDQTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABN0AyhB2m+BtrrhTur+CV3o60WNCXQ2dtzBb
tccvqAKCsTYEY+3Ge8qTCe4jJ6AaX36Q1lyX+HpAml5t7dyAGz6jgZIwgY8wHQYD
VR0OBBYEFHl3/pcCMY3FeTKYMHIBYMiSR72CMB8GA1UdIwQYMBaAFHl3/pcCMY3F
eTKYMHIBYMiSR72CMBIGA1UdEwEB/wQIMAYBAf8CAQEwDwYDVR0PAQH/BAUDAweO
gDAoBgNVHSUEITAfBggrBgEFBQcDAQYIKwYBBQUHAwIGCSsGAQQBho0fATAKBggq
hkjOPQQDAgNIADBFAiBpTjKqyJlwH/E7e2JYFuqbsPGP9oLB/UoXebfs4/1R7AIh
ANFMHDo//MtMReCDoNgoilyDENxzFJD0975WcswIyisn
-----END CERTIFICATE-----
`

/** `partnerCaPem` according to openssl. */
export const partnerCaFacts = {
  subject_common_name: 'Partner Düsseldorf CA',
  not_before: '2026-11-21T17:37:39Z',
  not_after: '2126-10-28T17:37:39Z',
  key_usages: ['digitalSignature', 'keyAgreement', 'keyCertSign', 'crlSign', 'decipherOnly'],
  extended_key_usages: ['serverAuth', 'clientAuth', '1.3.6.1.4.1.99999.1'],
} as const

/** A CA without a common name and without usages. */
export const namelessCaPem = `-----BEGIN CERTIFICATE-----
MIIBeDCCAR+gAwIBAgIUWkX6heTmJGaJck/oXy3SyOGCu+4wCgYIKoZIzj0EAwIw
ETEPMA0GA1UECgwGTm9ib2R5MCAXDTI2MTEyMTE3MzcyOVoYDzIxMjYxMDI4MTcz
NzI5WjARMQ8wDQYDVQQKDAZOb2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATh66Hf3nk7nvqRYYyuOtQyAQfPNXyNSeTP9BS6JzgraiSb1l/pSe+ojsbE8ccq
o8Hs1B564Hclt7xpDqoTQkYRo1MwUTAdBgNVHQ4EFgQU9ro+iE1cVGzLENAV2Wrs
z5ButzMwHwYDVR0jBBgwFoAU9ro+iE1cVGzLENAV2Wrsz5ButzMwDwYDVR0TAQH/
BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiBpRp+Rb7k63T/zpYHQyK9cGsE3l27m
UUWttY2JywBoegIgbrEbPFZTWm8GUUL9K6gJSkyssec0aZqAwP5wx/LkNd0=
-----END CERTIFICATE-----
`

/** A server certificate rather than a CA. */
export const leafPem = `-----BEGIN CERTIFICATE-----
MIIBijCCATCgAwIBAgIUHKAh2E5s5wfQ7SwhhAxIYBMxl8owCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQbGVhZi5leGFtcGxlLm9yZzAgFw0yNjExMjExNzM3MjlaGA8y
MTI2MTAyODE3MzcyOVowGzEZMBcGA1UEAwwQbGVhZi5leGFtcGxlLm9yZzBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABEiNR7xU9kKnI75uKD2Peju6+df+ugL/Pv8C
Bhgeo42qUNXvlnI4gQTk0y69gSNWGUmwYvTmHQM4AHVxr/Lv2iyjUDBOMB0GA1Ud
DgQWBBS9T5FuTlYuELJ0FH38nbk7gZyPXzAfBgNVHSMEGDAWgBS9T5FuTlYuELJ0
FH38nbk7gZyPXzAMBgNVHRMBAf8EAjAAMAoGCCqGSM49BAMCA0gAMEUCIQCMLi2X
RGZOB2UCynv2C1fYrOBy6nz9ii1iMdtO1F0wMAIgdbsweDtL8kp3nnROEPegs1Vi
GV7j/94plxWLSAjKH/E=
-----END CERTIFICATE-----
`

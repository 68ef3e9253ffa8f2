import { authorityLine, certificateLine } from './ssh-lines.ts'

const [type = '', blob = ''] = certificateLine().split(' ')
const [keyType = '', keyBlob = ''] = authorityLine.split(' ')

/** Values that an API may return instead of a token, and that must not go into a Secret. */
export const unfitTokens: readonly (readonly [what: string, value: unknown])[] = [
  ['none', undefined],
  ['null', null],
  ['an empty text', ''],
  ['a configuration file of several lines', '[server]\nlisten = 0.0.0.0\nauth = off\n'],
  ['a token with a line break at its end', 'abc123\n'],
  ['a token with a carriage return', 'abc\r123'],
  ['a header behind the token', 'abc123\r\nX-Admin: true'],
  ['a token with a blank', 'abc 123'],
  ['blanks alone', '   '],
  ['a tab', 'abc\t123'],
  ['a NUL character', 'abc\u0000def'],
  ['an escape sequence of terminals', '\u001b[2Jabc'],
  ['a letter that is not ASCII', 'tökén'],
  ['a text that turns the reading order', 'abc\u202edef'],
  ['half a character', 'abc\ud83d'],
  ['a token of 4097 characters', 'x'.repeat(4097)],
  ['a private key', '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----'],
  ['a number', 42],
  ['a list', ['abc123']],
  ['an object', { token: 'abc123' }],
]

/** Values that an API may return instead of a certificate. */
export const unfitCertificates: readonly (readonly [what: string, value: unknown])[] = [
  ['none', undefined],
  ['null', null],
  ['an empty text', ''],
  ['a certificate with a second line', `${certificateLine()}\nssh-ed25519 ${keyBlob} eve`],
  ['options before the certificate', `cert-authority ${certificateLine()}`],
  ['a public key', authorityLine],
  ['a PEM block', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'],
  ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----'],
  ['another type than the blob has', `ecdsa-sha2-nistp256-cert-v01@openssh.com ${blob}`],
  ['a blob that is no base64', `${type} !!!!${blob}`],
  ['a blob that ends after the type', `${type} ${blob.slice(0, 48)}`],
  ['a control character in the comment', certificateLine('me\u0007')],
  ['a line separator in the comment', certificateLine('me\u2028ssh-ed25519')],
  ['more than fits', certificateLine('x'.repeat(131_072))],
  ['a list', [certificateLine()]],
]

/** Values that an API may return instead of an authority's public key. */
export const unfitKeys: readonly (readonly [what: string, value: unknown])[] = [
  ['none', undefined],
  ['null', null],
  ['an empty text', ''],
  ['two keys', `${authorityLine}\n${authorityLine}`],
  ['a line of known_hosts behind it', `${authorityLine}\n* ${authorityLine}`],
  ['options before it', `command="sh" ${authorityLine}`],
  ['a certificate', certificateLine()],
  ['a type that is none of an authority', `ssh-dss ${keyBlob}`],
  ['another type than the blob has', `ssh-rsa ${keyBlob}`],
  ['a blob cut off', `${keyType} ${keyBlob.slice(0, -2)}`],
  ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----'],
  ['more than fits', `${authorityLine} ${'x'.repeat(16_384)}`],
  ['a number', 7],
]

/** Values that an API may return as the target of a record, and that no record may have. */
export const unfitTargets: readonly (readonly [what: string, value: unknown])[] = [
  ['an empty text', ''],
  ['one label', 'localhost'],
  ['an IPv4 address', '192.0.2.1'],
  ['an IPv6 address', '2001:db8::1'],
  ['a number as the top-level domain', 'a.example.1'],
  ['an underscore', '_dmarc.example.com'],
  ['an underscore within a label', 'a_b.example.com'],
  ['a wildcard', '*.example.com'],
  ['a blank', 'a b.example.com'],
  ['a line break', 'a.example.com\nb.example.com'],
  ['a list in one text', 'a.example.com,b.example.com'],
  ['an address with a scheme', 'https://a.example.com'],
  ['a port', 'a.example.com:443'],
  ['two dots', 'a..example.com'],
  ['two dots at the end', 'a.example.com..'],
  ['a dot at the beginning', '.example.com'],
  ['a hyphen at the beginning of a label', '-a.example.com'],
  ['a label of 64 characters', `${'a'.repeat(64)}.example.com`],
  ['a name of 254 characters', `${'a.'.repeat(125)}beta`],
  ['a letter that is not ASCII', 'ä.example.com'],
  ['a number', 7],
  ['an object', { name: 'a.example.com' }],
]

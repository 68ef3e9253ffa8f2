import { execFileSync } from 'node:child_process'

/** A certificate according to `ssh-keygen -L`. */
export interface ReadCertificate {
  /** `ssh-ed25519-cert-v01@openssh.com`, and so on. */
  readonly type: string
  readonly use: 'user' | 'host'
  /** `SHA256:…` of the certified key, and of the signing key. */
  readonly subject: string
  readonly authority: string
  /** The algorithm of the signature. */
  readonly signature: string
  readonly keyId: string
  readonly serial: string
  /** RFC 3339 in UTC. */
  readonly validAfter: string
  readonly validBefore: string
  readonly principals: readonly string[]
  /** One line each, in order: the name, and the value if there is one. */
  readonly criticalOptions: readonly string[]
  readonly extensions: readonly string[]
}

/**
 * Parses a certificate with OpenSSH, which also checks the signature, the order of the options and that nothing is left
 * over.
 * Throws if OpenSSH rejects it.
 *
 * @param sshKeygen path of the program
 */
export function readCertificate(sshKeygen: string, certificate: string): ReadCertificate {
  const text = execFileSync(sshKeygen, ['-L', '-f', '-'], {
    input: `${certificate}\n`,
    encoding: 'utf8',
    // It prints local times.
    env: { TZ: 'UTC', LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const [, type = '', use = ''] = match(text, /Type: (\S+) (user|host) certificate/)
  const [, subject = ''] = match(text, /Public key: \S+ (SHA256:\S+)/)
  const [, authority = '', signature = ''] = match(text, /Signing CA: \S+ (SHA256:\S+) \(using (\S+)\)/)
  const [, keyId = ''] = match(text, /Key ID: "(.*)"/)
  const [, serial = ''] = match(text, /Serial: (\d+)/)
  const [, from = '', to = ''] = match(text, /Valid: from (\S+) to (\S+)/)
  return {
    type,
    use: use === 'host' ? 'host' : 'user',
    subject,
    authority,
    signature,
    keyId,
    serial,
    validAfter: `${from}Z`,
    validBefore: `${to}Z`,
    principals: section(text, 'Principals'),
    criticalOptions: section(text, 'Critical Options'),
    extensions: section(text, 'Extensions'),
  }
}

/** `SHA256:…` of an authorized-keys line, computed by OpenSSH. */
export function fingerprint(sshKeygen: string, line: string): string {
  const text = execFileSync(sshKeygen, ['-l', '-f', '-'], { input: `${line}\n`, encoding: 'utf8' })
  return match(text, /(SHA256:\S+)/)[1] ?? ''
}

function match(text: string, pattern: RegExp): RegExpExecArray {
  const found = pattern.exec(text)
  if (found === null) throw new Error(`ssh-keygen does not say ${String(pattern)}:\n${text}`)
  return found
}

/** The lines below a heading with a deeper indentation. */
function section(text: string, heading: string): readonly string[] {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.trim().startsWith(`${heading}:`))
  if (start < 0) throw new Error(`ssh-keygen does not say ${heading}:\n${text}`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => !line.startsWith(' '.repeat(16)))
  return rest.slice(0, end < 0 ? undefined : end).map((line) => line.trim())
}

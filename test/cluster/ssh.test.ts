import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ProgramResult, runProgram } from '../../controlplane/run-program.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { openSSH, requireOpenSSH } from '../builders/openssh.ts'
import { clientFlags, SSHD } from './support/sshd.ts'
import { until } from './support/wait.ts'
import { core, World } from './support/world.ts'

/** Every type of key that an authority can have, with what `ssh-keygen -L` says of its signature. */
const AUTHORITIES = [
  { title: 'RSA 2048', spec: { privateKeyType: 'RSA', keySize: 2048 }, signing: /^RSA \S+ \(using rsa-sha2-512\)$/ },
  { title: 'RSA 4096', spec: { privateKeyType: 'RSA', keySize: 4096 }, signing: /^RSA \S+ \(using rsa-sha2-512\)$/ },
  ...(['P-256', 'P-384', 'P-521'] as const).map((ellipticCurve) => ({
    title: `ECDSA ${ellipticCurve}`,
    spec: { privateKeyType: 'ECDSA', ellipticCurve },
    signing: new RegExp(String.raw`^ECDSA \S+ \(using ecdsa-sha2-nistp${ellipticCurve.slice(2)}\)$`),
  })),
  { title: 'Ed25519', spec: { privateKeyType: 'Ed25519' }, signing: /^ED25519 \S+ \(using ssh-ed25519\)$/ },
].map((row) => ({ ...row, name: row.title.toLowerCase().replace(' ', '-') }))

type Authority = (typeof AUTHORITIES)[number]

/** What `npm test` tries: RSA has names of its own for its signatures. */
const [always, others] = [true, false].map((isOne) => {
  return AUTHORITIES.filter(({ title }) => (title === 'RSA 4096') === isOne)
}) as [Authority[], Authority[]]

const user = userInfo().username

let world: World
let folder: string
let keys: { readonly user: string; readonly host: string }

beforeAll(async () => {
  await requireOpenSSH('ssh', 'ssh-keygen', 'sshd')
  folder = await mkdtemp(join(tmpdir(), 'culvert-ssh-'))
  keys = { user: await newKey('id'), host: await newKey('ssh_host_key') }
  world = await World.open()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** Makes a key pair as a user does. @returns the public half. */
async function newKey(name: string): Promise<string> {
  const file = join(folder, name)
  await run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file)
  return readFile(`${file}.pub`, 'utf8')
}

/** An authority with certificates of every sort that the tests use. */
async function applyAll({ name, spec }: Authority): Promise<void> {
  const signed = { sshCertificateAuthorityRef: { name } }
  const login = { ...signed, publicKey: keys.user, principals: [user] }
  await world.apply('SSHCertificateAuthority', name, { ...spec, output: { configMap: { name: `${name}-authority` } } })
  const certificates: readonly [string, Record<string, unknown>][] = [
    ['login', { ...login, validFor: '2h' }],
    ['other', { ...login, principals: ['somebody-else'] }],
    ['forced', { ...login, criticalOptions: { forceCommand: 'echo forced' }, extensions: {} }],
    ['near', { ...login, criticalOptions: { sourceAddresses: ['127.0.0.0/8', '192.0.2.0/24'] } }],
    ['far', { ...login, criticalOptions: { sourceAddresses: ['192.0.2.0/24'] } }],
    ['any', { ...signed, publicKey: keys.user, anyPrincipal: true }],
  ]
  for (const [title, certificate] of certificates) {
    await world.apply('SSHUserCertificate', `${name}-${title}`, {
      ...certificate,
      output: { secret: { name: `${name}-${title}` } },
    })
  }
  const host = { ...signed, publicKey: keys.host, output: { configMap: { name: `${name}-host` } } }
  await world.apply('SSHHostCertificate', `${name}-host`, { ...host, principals: ['localhost', 'a.example.com'] })
}

/** Reads keys of a Secret or ConfigMap that the operator has written. */
async function output(kind: 'Secret' | 'ConfigMap', name: string): Promise<(key: string) => string> {
  const type = core(`${kind.toLowerCase()}s`, kind)
  const key = { namespace: world.namespace, name }
  const found = await world.kube.get<KubeObject & { data?: Record<string, string> }>(type, key)
  const texts = new Map(Object.entries(found?.data ?? {}))
  return (key) => {
    const text = texts.get(key)
    if (text === undefined) throw new Error(`${kind} ${name} has no key ${key}`)
    return kind === 'Secret' ? Buffer.from(text, 'base64').toString() : text
  }
}

async function run(program: 'ssh' | 'ssh-keygen', ...args: readonly string[]): Promise<ProgramResult> {
  return runProgram(await openSSH(program), args)
}

describe.each(always)('with an authority of type $title', expectLogins)
describe.each(others)('with an authority of type $title', { tags: 'nightly' }, expectLogins)

function expectLogins(tried: Authority): void {
  const { name, signing } = tried
  let place: string
  let server: SSHD

  beforeAll(async () => {
    place = join(folder, name)
    await mkdir(place)
    await applyAll(tried)
    await Promise.all([
      world.ready('SSHCertificateAuthority', name, 60_000),
      world.ready('SSHHostCertificate', `${name}-host`, 60_000),
      ...['login', 'other', 'forced', 'near', 'far', 'any'].map((title) =>
        world.ready('SSHUserCertificate', `${name}-${title}`, 60_000),
      ),
    ])
    const authority = await output('ConfigMap', `${name}-authority`)
    const host = await output('ConfigMap', `${name}-host`)
    server = await SSHD.start({
      folder: place,
      hostKey: join(folder, 'ssh_host_key'),
      hostCertificate: await put('ssh_host_key-cert.pub', host('ssh_host_key-cert.pub')),
      trustedUserCAKeys: await put('ca.pub', authority('ca.pub')),
    })
    await put('known_hosts', host('known_hosts'))
    await put('known_hosts_of_authority', authority('known_hosts'))
  })

  afterAll(() => server[Symbol.asyncDispose]())

  async function put(file: string, text: string): Promise<string> {
    const path = join(place, file)
    await writeFile(path, text)
    return path
  }

  /** Logs in with the certificate of this name beside the key, as a user would have them lie. */
  async function login(title: string, options: { knownHosts?: string; alias?: string } = {}): Promise<ProgramResult> {
    const home = join(place, title)
    await mkdir(home, { recursive: true })
    await writeFile(join(home, 'id'), await readFile(join(folder, 'id'), 'utf8'), { mode: 0o600 })
    const secret = await output('Secret', `${name}-${title}`)
    await writeFile(join(home, 'id-cert.pub'), secret('id-cert.pub'))
    const flags = clientFlags({
      UserKnownHostsFile: join(place, options.knownHosts ?? 'known_hosts'),
      ...(options.alias === undefined ? {} : { HostKeyAlias: options.alias }),
    })
    const target = ['-p', String(server.port), '-i', join(home, 'id'), `${user}@localhost`, 'echo let in']
    return run('ssh', ...flags, ...target)
  }

  test('ssh-keygen reads the outputs', async () => {
    await login('login')
    const certificate = (await run('ssh-keygen', '-L', '-f', join(place, 'login', 'id-cert.pub'))).stdout
    const fields = new Map(certificate.split('\n').map((line) => line.trim().split(': ') as [string, string]))
    expect(fields.get('Type')).toBe('ssh-ed25519-cert-v01@openssh.com user certificate')
    expect(fields.get('Signing CA')).toMatch(signing)
    const { status } = await world.ready('SSHUserCertificate', `${name}-login`)
    expect(fields.get('Key ID')).toBe(`"${status?.id}"`)
    expect(Date.parse(String(status?.validUntil)) - Date.parse(String(status?.validAfter))).toBe(2 * 3_600_000)
    expect(certificate).toContain(`Principals: \n                ${user}\n`)
    expect(certificate).toContain('Critical Options: (none)')
    expect(certificate).toMatch(/Extensions: \n +permit-pty\n +permit-user-rc\n/)

    const host = (await run('ssh-keygen', '-L', '-f', join(place, 'ssh_host_key-cert.pub'))).stdout
    expect(host).toContain('Type: ssh-ed25519-cert-v01@openssh.com host certificate')
    expect(host).toMatch(/Principals: \n +localhost\n +a\.example\.com\n/)
    const authority = await run('ssh-keygen', '-l', '-f', join(place, 'ca.pub'))
    expect(authority.code).toBe(0)
    expect(certificate).toContain(authority.stdout.split(' ')[1])
  })

  test('the holder of a certificate logs in to a host with a certificate of its own', async () => {
    expect(await login('login'), server.log).toMatchObject({ code: 0, stdout: 'let in\n' })
    expect(await login('login', { knownHosts: 'known_hosts_of_authority' })).toMatchObject({ code: 0 })
    expect(await login('login', { alias: 'a.example.com' })).toMatchObject({ code: 0 })
  })

  test('a certificate for another user is refused', async () => {
    const refused = await login('other')
    expect(refused.code).toBe(255)
    expect(refused.stderr).toContain('Permission denied (publickey)')
    await until('sshd said why', () => server.log.includes('name is not a listed principal'))
  })

  test('a forced command runs instead of the one asked for', async () => {
    expect(await login('forced')).toMatchObject({ code: 0, stdout: 'forced\n' })
  })

  test('a certificate for certain addresses is accepted from these only', async () => {
    expect(await login('near')).toMatchObject({ code: 0, stdout: 'let in\n' })
    expect(await login('far')).toMatchObject({ code: 255, stderr: expect.stringContaining('Permission denied') })
  })

  test('a host is refused under a name that its certificate lacks', async () => {
    const elsewhere = { alias: 'b.example.com' }
    for (const knownHosts of ['known_hosts', 'known_hosts_of_authority']) {
      const refused = await login('login', { ...elsewhere, knownHosts })
      expect(refused.code).toBe(255)
      expect(refused.stderr).toContain('Host key verification failed')
    }
  })

  test('a host without a certificate in known_hosts is refused', async () => {
    await put('nothing', '')
    expect(await login('login', { knownHosts: 'nothing' })).toMatchObject({ code: 255 })
  })

  test('sshd accepts no certificate without principals by TrustedUserCAKeys, as its manual says', async () => {
    expect(await login('any')).toMatchObject({ code: 255 })
    await until('sshd said why', () => server.log.includes('Certificate lacks principal list'))
  })
}

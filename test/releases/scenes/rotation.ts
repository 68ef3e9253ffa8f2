import { caPem, partnerCaPem } from '../../builders/contract/ca-pem.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import { secrets } from '../../cluster/support/tokens.ts'
import type { World } from '../../cluster/support/world.ts'
import { type Scene, type Subject, saying, says } from '../scene.ts'

const certificate = {
  sshCertificateAuthorityRef: { name: 'team' },
  publicKey: sshKeys.ed25519,
  principals: ['alice'],
}
const TOKENS = [
  ['APIKey', '/api_keys'],
  ['TunnelCredential', '/credentials'],
] as const
const ROTATE = 'culvert.dev/rotate-requested-at'

/** A new object exists next to the one that it replaces. */
export const replacing: Scene = {
  name: 'replacing',
  about: 'Replacements, rotations and renewals whose former objects are not deleted yet.',
  async play({ world }) {
    await world.apply('CertificateAuthority', 'replaced', { caPEM: caPem })
    await world.apply('Edge', 'user', {
      protocol: 'TLS',
      mutualTLS: { certificateAuthorityRefs: [{ name: 'replaced' }] },
    })
    await world.apply('SSHCredential', 'replaced', { publicKey: sshKeys.ed25519 })
    await world.apply('SSHCertificateAuthority', 'team', {})
    await world.apply('SSHUserCertificate', 'replaced', certificate)
    await world.apply('SSHHostCertificate', 'replaced', certificate)
    await world.apply('IPPolicy', 'open', { rulesSource: 'IPPolicyRules' })
    await world.apply('IPPolicyRule', 'replaced', {
      ipPolicyRef: { name: 'open' },
      cidr: '10.0.0.0/8',
      action: 'Allow',
    })
    const subjects = [
      'CertificateAuthority',
      'SSHCredential',
      'SSHUserCertificate',
      'SSHHostCertificate',
      'IPPolicyRule',
    ]
    for (const kind of subjects) await world.ready(kind, 'replaced')
    await world.ready('Edge', 'user')
    const tokens = await rotating(world)
    hold(world, 'DELETE', '**')
    hold(world, 'PATCH', '/edges/**')
    await world.apply('CertificateAuthority', 'replaced', { caPEM: partnerCaPem })
    await world.apply('SSHCredential', 'replaced', { publicKey: sshKeys.rsa })
    await world.apply('SSHUserCertificate', 'replaced', { ...certificate, principals: ['bob'] })
    await world.apply('SSHHostCertificate', 'replaced', { ...certificate, principals: ['b.example.com'] })
    await world.apply('IPPolicyRule', 'replaced', { ipPolicyRef: { name: 'open' }, cidr: '10.0.0.0/8', action: 'Deny' })
    return [...tokens, ...(await begun(world, subjects)), ...(await interrupted(world))]
  },
}

/** Answers 503 from now on. */
function hold(world: World, method: string, path: string): void {
  world.emulator.admin.addFault({ match: { method, path, every: true }, act: { type: 'status', status: 503 } })
}

/** Two tokens, both valid until the overlap ends; another was requested meanwhile. */
async function rotating(world: World): Promise<readonly Subject[]> {
  const told: Subject[] = []
  for (const [kind] of TOKENS) {
    for (const suffix of ['overlapping', 'asked-again']) {
      const name = `${kind.toLowerCase()}-${suffix}`
      await world.apply(kind, name, { rotation: { interval: '720h', overlap: '24h' } })
      await world.ready(kind, name)
      await world.annotate(kind, name, { [ROTATE]: 'first' })
      await world.until(kind, name, 'is in rotation', ({ status }) => status?.internal?.superseded !== undefined)
      await says(world, kind, name, 'RotationScheduled')
      told.push({ kind, name, state: 'during rotation', phase: 'Current' })
    }
    const again = `${kind.toLowerCase()}-asked-again`
    await world.annotate(kind, again, { [ROTATE]: 'second' })
    await says(world, kind, again, 'RotationWaiting')
  }
  return told
}

async function begun(world: World, kinds: readonly string[]): Promise<readonly Subject[]> {
  const told = kinds.map(async (kind): Promise<Subject> => {
    // An authority in use still works: it waits for the edge to switch, and reports nothing.
    if (kind === 'CertificateAuthority') {
      await world.until(
        kind,
        'replaced',
        'is in replacement',
        ({ status }) => status?.internal?.superseded !== undefined,
        60_000,
      )
      return { kind, name: 'replaced', state: 'during replacement', phase: 'Current', after: 'Current' }
    }
    await says(world, kind, 'replaced', 'ApiError')
    return { kind, name: 'replaced', state: 'during replacement', phase: 'InProgress', after: 'Current' }
  })
  const edge = saying(world, 'Edge', 'user', 'ApiError', 'InProgress', 'Current')
  return [...(await Promise.all(told)), await edge]
}

/** Rotations without an overlap, and a Secret that vanished: the old object should be deleted at once, and is not. */
async function interrupted(world: World): Promise<readonly Subject[]> {
  const told: Subject[] = []
  for (const [kind] of TOKENS) {
    const name = `${kind.toLowerCase()}-vanished`
    await world.apply(kind, name, {})
    await world.ready(kind, name)
    await world.kube.delete(secrets, { namespace: world.namespace, name })
    await world.until(kind, name, 'is in replacement', ({ status }) => status?.internal?.superseded !== undefined)
    await says(world, kind, name, 'ApiError')
    told.push({ kind, name, state: 'output vanished', phase: 'InProgress', after: 'Current' })
  }
  return told
}

/** The API creates no successor. */
export const rotationFailing: Scene = {
  name: 'succession-failing',
  about: 'Tokens and certificates that work and whose successors the API refuses, and tokens whose Secrets are gone.',
  async play({ world }) {
    const name = 'failing'
    await world.apply('SSHCertificateAuthority', 'team', {})
    const soon = { validFor: '100s', renewBefore: '90s' }
    for (const kind of ['SSHUserCertificate', 'SSHHostCertificate'])
      await world.apply(kind, name, { ...certificate, ...soon })
    for (const [kind] of TOKENS)
      await world.apply(kind, kind.toLowerCase(), { rotation: { interval: '720h', overlap: '0s' } })
    for (const [kind] of TOKENS) await world.apply(kind, `${kind.toLowerCase()}-vanished`, {})
    for (const [kind] of TOKENS) await world.ready(kind, kind.toLowerCase())
    for (const [kind] of TOKENS) await world.ready(kind, `${kind.toLowerCase()}-vanished`)
    for (const kind of ['SSHUserCertificate', 'SSHHostCertificate']) await world.ready(kind, name)
    const act = { type: 'status', status: 400 } as const
    world.emulator.admin.addFault({ match: { method: 'POST', every: true }, act })
    const told: Subject[] = []
    for (const [kind] of TOKENS) {
      await world.annotate(kind, kind.toLowerCase(), { [ROTATE]: 'now' })
      told.push(await saying(world, kind, kind.toLowerCase(), 'RotationFailing', 'Current', 'Current'))
      const vanished = `${kind.toLowerCase()}-vanished`
      await world.kube.delete(secrets, { namespace: world.namespace, name: vanished })
      told.push(await saying(world, kind, vanished, 'Rejected', 'Failed', 'Current'))
    }
    for (const kind of ['SSHUserCertificate', 'SSHHostCertificate']) {
      told.push(await saying(world, kind, name, 'RenewalFailing', 'Current', 'Current'))
    }
    return told
  },
}

import { REFUSED_FIELDS } from '../../../../src/kube/refused-fields.ts'
import { sshKeys } from '../../../builders/contract/ssh-keys.ts'
import type { KubeProxy } from '../../../builders/kube-proxy.ts'
import { until } from '../../support/wait.ts'
import type { World } from '../../support/world.ts'
import type { TestPrometheus } from './prometheus.ts'

/**
 * How many resources fail or drift together: enough that something of it is always happening while each of them backs
 * off.
 */
const MANY = 8
/** More than there are workers. */
const WAITING = 24
const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }

/** A file that takes no byte, like any on a full disk. */
const FULL = '/dev/full'
/** Where nobody answers. */
const NOBODY = '127.0.0.1:1'

/** Flags of an operator whose audit records get lost, and whose way to Kubernetes is in the test's hand. */
export function troubledFlags(proxy: KubeProxy): readonly string[] {
  return ['--kubeconfig', proxy.kubeconfigPath, '--audit-log', FULL, '--allow-api-host', NOBODY]
}

const names = (prefix: string, count = MANY): readonly string[] => {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
}

/** An Account next to the default one, with a key that opens an account of its own. */
async function account(
  world: World,
  name: string,
  { key, ...spec }: Record<string, unknown> & { key?: string },
  labels?: Record<string, string>,
): Promise<void> {
  if (key !== undefined) await world.secret(`key-${name}`, { apiKey: key })
  const common = { baseURL: world.emulator.url, apiKeySecretRef: { name: `key-${name}` }, resyncInterval: '10m' }
  await world.apply('Account', name, { ...common, ...spec }, { labels })
}

const of = (name: string) => ({ accountRef: { name } })

/** An account that another operator has claimed, and that this one selects as well. */
export async function accountIsClaimed(world: World): Promise<void> {
  await world.startOperator(['--name', 'green', '--account-selector', 'operator=green'])
  world.emulator.admin.seed({ accounts: [{ name: 'claimed', apiKey: 'key-of-claimed' }] })
  await account(world, 'claimed', { key: 'key-of-claimed' }, { operator: 'green' })
  await world.reason('Account', 'claimed', 'Ready', 'Available')
}

/** Accounts that cannot be used, each for another reason. */
export async function accountsFail(world: World): Promise<void> {
  await account(world, 'refused', { key: 'wrong' })
  await account(world, 'silent', { key: 'any', baseURL: `http://${NOBODY}` })
  await account(world, 'keyless', {})
  await world.reason('Account', 'refused', 'Ready', 'Unauthorized')
  await world.reason('Account', 'silent', 'Ready', 'Unreachable')
  await world.reason('Account', 'keyless', 'Ready', 'SecretMissing')
}

/** The key of an account with objects is swapped for that of another one. */
export async function keyIsSwapped(world: World): Promise<void> {
  world.emulator.admin.seed({
    accounts: [
      { name: 'a', apiKey: 'key-of-a' },
      { name: 'b', apiKey: 'key-of-b' },
    ],
  })
  await account(world, 'swapped', { key: 'key-of-a' })
  for (const name of names('swapped', 2)) await world.apply('Backend', name, { ...tunnels, ...of('swapped') })
  for (const name of names('swapped', 2)) await world.ready('Backend', name)
  await world.secret('key-swapped', { apiKey: 'key-of-b' })
  await world.reason('Account', 'swapped', 'Ready', 'IdentityUnproven')
}

/** A resource goes, and leaves its object; others have theirs changed at the API, again and again. */
export async function objectsDrift(world: World, prometheus: TestPrometheus): Promise<void> {
  await world.apply('Backend', 'forgotten', { ...tunnels, deletionPolicy: 'Retain' })
  for (const name of names('drifting')) await world.apply('IPPolicy', name, { allowEmpty: true })
  const policies = await Promise.all(names('drifting').map((name) => world.ready('IPPolicy', name)))
  await world.ready('Backend', 'forgotten')
  await world.delete('Backend', 'forgotten')
  await world.gone('Backend', 'forgotten')
  for (let round = 1; round <= 2; round++) {
    for (const { status } of policies) {
      await world.api.patch(`/ip_policies/${status?.id}`, { id: status?.id, description: `round ${round}` })
    }
    await world.resync()
    // Prometheus does not take the value that a counter appears with for an increase.
    await until(`Prometheus has seen round ${round}`, async () => {
      const [seen] = await prometheus.query('sum(culvert_drift_total{kind="IPPolicy",field="description"})')
      return seen?.value === round * MANY
    })
  }
  await world.until('Account', 'default', 'reports the orphan', ({ status }) => Number(status?.orphanCount) > 0)
}

/** Certificates and a token that are due, and cannot be issued. */
export async function renewalsFail(world: World): Promise<void> {
  const { admin } = world.emulator
  const signed = { sshCertificateAuthorityRef: { name: 'signer' }, publicKey: sshKeys.ed25519, principals: ['alice'] }
  await world.apply('SSHCertificateAuthority', 'signer', { privateKeyType: 'Ed25519' })
  await world.ready('SSHCertificateAuthority', 'signer')
  await world.apply('SSHUserCertificate', 'ending', {
    ...signed,
    validFor: '100s',
    renewBefore: '90s',
    output: { secret: { name: 'ending' } },
  })
  await world.apply('SSHHostCertificate', 'ended', {
    ...signed,
    validFor: '8s',
    renewBefore: '4s',
    output: { configMap: { name: 'ended' } },
  })
  await world.apply('APIKey', 'rotating', { rotation: { interval: '720h', overlap: '1s' } })
  await world.ready('APIKey', 'rotating')
  for (const name of ['ending', 'ended']) {
    await world.ready(name === 'ending' ? 'SSHUserCertificate' : 'SSHHostCertificate', name)
  }
  for (const path of ['/ssh_user_certificates', '/ssh_host_certificates', '/api_keys']) {
    admin.addFault({ match: { method: 'POST', path, every: true }, act: { type: 'status', status: 500 } })
  }
  await world.annotate('APIKey', 'rotating', { 'culvert.dev/rotate-requested-at': 'now' })
  await world.reason('APIKey', 'rotating', 'Rotated', 'RotationFailing')
  await world.reason('SSHUserCertificate', 'ending', 'Renewed', 'RenewalFailing')
  await world.reason('SSHHostCertificate', 'ended', 'Ready', 'Expired')
}

/**
 * Edits that the API fails to take, one that it refuses, a resource that it refuses permanently, and one that waits for
 * another that does not exist.
 */
export async function editsFail(world: World): Promise<void> {
  await world.apply('IPRestriction', 'waiting', { type: 'API', enforcement: 'Warn', ipPolicyRefs: [{ name: 'none' }] })
  const { admin } = world.emulator
  admin.addFault({ match: { method: 'POST', path: '/credentials', every: true }, act: { type: 'status', status: 400 } })
  await world.apply('TunnelCredential', 'rejected', {})
  await world.reason('TunnelCredential', 'rejected', 'Ready', 'Rejected')
  const credential = { publicKey: sshKeys.ed25519 }
  await world.apply('SSHCredential', 'refused', credential)
  await world.ready('SSHCredential', 'refused')
  const update = { method: 'PATCH', path: '/ssh_credentials/**', every: true }
  admin.addFault({ match: update, act: { type: 'status', status: 400 } })
  await world.apply('SSHCredential', 'refused', { ...credential, description: 'edited' })
  await world.reason('SSHCredential', 'refused', 'Synced', 'Rejected')
  for (const name of names('edited')) await world.apply('Backend', name, tunnels)
  for (const name of names('edited')) await world.ready('Backend', name)
  const match = { method: 'PATCH', path: '/backends/**', every: true }
  admin.addFault({ match, act: { type: 'status', status: 500 } })
  for (const name of names('edited')) await world.apply('Backend', name, { ...tunnels, description: 'edited' })
}

/** Kinds that nothing else here is about. */
const UNWATCHED =
  /\/(edges|agentingresses|reserveddomains|eventdestinations|eventsubscriptions|certificateauthorities)$/

/**
 * Kubernetes refuses to have them watched any more. There are several, because the operator soon asks less often than
 * the shortened ranges of the rules can see: each has its own pauses, and one of them fits.
 */
export function watchesFail(proxy: KubeProxy): void {
  proxy.intercept(({ method, path }) => {
    const refused = method === 'GET' && UNWATCHED.test(path)
    return refused ? { type: 'answer', status: 403, reason: 'Forbidden' } : undefined
  })
  for (const watch of proxy.watches().filter(({ path }) => UNWATCHED.test(path))) watch.reset()
}

/** What an admission policy of another release says of a status. */
const REFUSAL = `ValidatingAdmissionPolicy 'culvert' with binding 'culvert' denied request: ${REFUSED_FIELDS}botusers.status.novelty`

/** The policy for the operator refuses to have it said how BotUsers stand. */
export async function statusesFail(world: World, proxy: KubeProxy): Promise<void> {
  proxy.intercept(({ path }) => {
    const refused = /\/botusers\/[^/]+\/status$/.test(path)
    return refused ? { type: 'answer', status: 403, reason: 'Forbidden', message: REFUSAL } : undefined
  })
  for (const name of names('unheard')) await world.apply('BotUser', name, { displayName: name })
}

/** An API that refuses for too many requests, for an account that shows its sessions. */
export async function callsAreTooMany(world: World): Promise<void> {
  world.emulator.admin.seed({ accounts: [{ name: 'c', apiKey: 'key-of-c' }] })
  const match = { method: 'POST', path: '/reserved_addrs', every: true }
  world.emulator.admin.addFault({ match, act: { type: 'status', status: 429, retryAfter: 1 } })
  await account(world, 'throttled', { key: 'key-of-c', mirrorSessions: { enabled: true } })
  await world.apply('ReservedAddress', 'throttled', of('throttled'))
}

/** A budget of a few calls a minute, for more resources than there are workers: all of them come to wait. */
export async function budgetIsUsedUp(world: World): Promise<void> {
  world.emulator.admin.seed({ accounts: [{ name: 'd', apiKey: 'key-of-d' }] })
  await account(world, 'slow', { key: 'key-of-d', rateLimit: { requestsPerMinute: 10, burst: 1 } })
  await world.ready('Account', 'slow', 60_000)
  for (const name of names('slow', WAITING)) await world.apply('IPPolicy', name, { allowEmpty: true, ...of('slow') })
}

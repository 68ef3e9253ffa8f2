import { secretType } from '../../../../src/kube/core-types.ts'
import { internalOf } from '../../../../src/managed/cr.ts'
import { SECRET } from '../../../kinds/shared/account.ts'
import type { Episode } from '../../simulation/episodes.ts'
import { NAMESPACE, type SimulatedWorld } from '../../simulation/world.ts'
import { turnOf, type WatchStory } from './watch-story.ts'

const SECRETS = '/api/v1/secrets'
const DEFAULT = 'default'
const TOUCHED = { 'example.com/touched': 'yes' }

/** A working key, as an administrator makes one. */
interface Key {
  readonly id: string
  readonly token: string
}

/** Keys that a world has been given; a story is played in many worlds. */
class Keys {
  readonly #keys = new WeakMap<SimulatedWorld, Key[]>()

  make(world: SimulatedWorld): Key {
    const [key] = world.api.emulator.admin.seed({ apiKeys: [{}] }).apiKeys
    if (key === undefined) throw new Error('the emulator made no key')
    this.#keys.set(world, [...(this.#keys.get(world) ?? []), key])
    return key
  }

  /** Whether an operator has used that many of them, including the last one. */
  isUsed(world: SimulatedWorld, count: number): boolean {
    const keys = this.#keys.get(world) ?? []
    const last = keys[count - 1]
    return last !== undefined && world.api.emulator.admin.journal().some(({ keyId }) => keyId === last.id)
  }
}

function existing(subject: string): Episode {
  const update = turnOf(subject, 'update')
  if (update === undefined) throw new Error(`there is no ${subject}`)
  return update
}

/** The account's key changes. */
function keyChanges(subject: string): WatchStory {
  const keys = new Keys()
  const change = async (world: SimulatedWorld): Promise<void> =>
    world.putSecret('key', { apiKey: keys.make(world).token })
  return {
    title: `${subject} / another key of its account: watch of Secrets`,
    episode: existing(subject),
    path: () => SECRETS,
    change,
    touch: (world) => world.putSecret('key', { touched: 'yes' }),
    hasArrived: (world) => keys.isUsed(world, 1),
    afterwards: change,
    hasArrivedAfterwards: (world) => keys.isUsed(world, 2),
  }
}

/** A value that a spec takes from a Secret changes. */
function inputChanges(subject: string): WatchStory {
  const episode = existing(subject)
  const { kind, name } = episode
  const fingerprints = new WeakMap<SimulatedWorld, string | undefined>()
  const fingerprint = (world: SimulatedWorld): string | undefined => {
    const cr = world.get(kind, name)
    return cr === undefined ? undefined : internalOf(cr).inputsFingerprint
  }
  const change = async (world: SimulatedWorld): Promise<void> => {
    fingerprints.set(world, fingerprint(world))
    world.putSecret(SECRET.name, { apiKey: `another at ${world.time.now}` })
  }
  const hasArrived = (world: SimulatedWorld): boolean => fingerprint(world) !== fingerprints.get(world)
  return {
    title: `${subject} / another value in a Secret: watch of Secrets`,
    episode,
    path: () => SECRETS,
    change,
    touch: (world) => world.putSecret(SECRET.name, { touched: 'yes' }),
    hasArrived,
    afterwards: change,
    hasArrivedAfterwards: hasArrived,
  }
}

/**
 * The Secret of a token that is shown only once is deleted. Nothing more happens to it that a later frame could report.
 */
function outputGoes(subject: string): WatchStory {
  const episode = existing(subject)
  const key = { namespace: NAMESPACE, name: episode.name }
  const change = async (world: SimulatedWorld): Promise<void> => void world.kube.delete(secretType, key)
  const hasArrived = (world: SimulatedWorld): boolean => world.kube.get(secretType, key)?.data !== undefined
  return {
    title: `${subject} / its Secret is deleted: watch of Secrets`,
    episode,
    path: () => SECRETS,
    change,
    touch: undefined,
    hasArrived,
    afterwards: change,
    hasArrivedAfterwards: hasArrived,
  }
}

/** The account takes its key from another Secret. */
function accountChanges(subject: string): WatchStory {
  const keys = new Keys()
  const change = async (world: SimulatedWorld): Promise<void> => {
    const { id, token } = keys.make(world)
    world.putSecret(id.toLowerCase().replaceAll('_', '-'), { apiKey: token })
    const apiKeySecretRef = { name: id.toLowerCase().replaceAll('_', '-') }
    world.server.patch(typeOfAccounts(world), nameOfAccount(DEFAULT), { spec: { apiKeySecretRef } })
  }
  return {
    title: `${subject} / its account takes another Secret: watch of Accounts`,
    episode: existing(subject),
    path: accountsOf,
    change,
    touch: (world) => touchAccount(world, DEFAULT),
    hasArrived: (world) => keys.isUsed(world, 1),
    afterwards: change,
    hasArrivedAfterwards: (world) => keys.isUsed(world, 2),
  }
}

/** The account that a resource names is created while the resource waits for it. */
function accountComes(subject: string): WatchStory {
  const keys = new Keys()
  const create = turnOf(subject, 'create') as Episode
  const update = existing(subject)
  const account = nameOfAccount('second')
  return {
    title: `${subject} / before its account: watch of Accounts`,
    episode: create,
    path: accountsOf,
    prepare: async (world) => {
      const accountRef = { kind: 'Account', name: account.name }
      world.putSecret('second', { apiKey: keys.make(world).token })
      world.apply(update.kind, update.name, { ...update.before, accountRef })
      await world.advance(5_000)
    },
    change: async (world) => {
      const spec = { baseURL: 'https://api.example.com', apiKeySecretRef: { name: 'second' }, resyncInterval: '60s' }
      world.server.create(typeOfAccounts(world), account, { spec })
    },
    touch: (world) => touchAccount(world, account.name),
    hasArrived: (world) => keys.isUsed(world, 1),
    afterwards: async (world) => {
      world.putSecret('third', { apiKey: keys.make(world).token })
      world.server.patch(typeOfAccounts(world), account, { spec: { apiKeySecretRef: { name: 'third' } } })
    },
    hasArrivedAfterwards: (world) => keys.isUsed(world, 2),
  }
}

/** Changes that the watch of Secrets reports. */
export const secretStories: readonly WatchStory[] = [
  keyChanges('Backend group'),
  keyChanges('IPPolicy policy'),
  inputChanges('EventDestination sink'),
  outputGoes('APIKey apikey'),
  outputGoes('TunnelCredential tunnelcredential'),
]

/** Changes that the watch of Accounts reports. */
export const accountStories: readonly WatchStory[] = [
  accountChanges('Backend group'),
  accountChanges('TunnelCredential tunnelcredential'),
  accountComes('Backend group'),
  accountComes('IPPolicy policy'),
  accountComes('TunnelCredential tunnelcredential'),
]

function typeOfAccounts({ kinds }: SimulatedWorld) {
  return kinds.accountType('Account')
}

function nameOfAccount(name: string) {
  return { namespace: NAMESPACE, name }
}

function accountsOf(world: SimulatedWorld): string {
  const { group, version, plural } = typeOfAccounts(world)
  return `/apis/${group}/${version}/${plural}`
}

function touchAccount(world: SimulatedWorld, name: string): void {
  world.server.patch(typeOfAccounts(world), nameOfAccount(name), { metadata: { annotations: TOUCHED } })
}

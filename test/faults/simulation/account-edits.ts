import { secretType } from '../../../src/kube/core-types.ts'
import { KEY, OTHER_ACCOUNT, OTHER_KEY } from './api-server.ts'
import type { SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

const SECOND = 'second'
/** A certificate is parsed only when there are sockets. */
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n'

/** Edits of the Account while it has resources. */
export interface AccountEdit {
  readonly title: string
  /** Whether it leads to another account: an account without objects so far accepts the other as its own. */
  readonly isElsewhere: boolean
  /** Whether the account stays open throughout: calls from before and after the edit then overlap. */
  readonly keepsWorking: boolean
  /** Whether the Account loses its status: nothing but objects of other resources then proves which account it is. */
  readonly losesStatus: boolean
  readonly begin: (world: SimulatedWorld) => void
  /** Restores or corrects it. */
  readonly end: (world: SimulatedWorld) => void
}

const ELSEWHERE = 'https://api.example.com/elsewhere'
/** By this the Account was confirmed once, and it stayed in the manifest. */
const CONFIRMED = { 'culvert.dev/confirm-identity-requested-at': 'long ago' }
const OPEN: ReadonlySet<string> = new Set([
  'another Secret',
  'another CA',
  'a large budget',
  'a small budget',
  'recreated',
  'recreated, confirmed long ago',
])

export const accountEdits: readonly AccountEdit[] = [
  edit('another address', true, set({ baseURL: ELSEWHERE }), set({ baseURL: 'https://api.example.com' })),
  edit('another account’s key', true, (world) => putKey(world, OTHER_KEY), putBack),
  edit('a key that is refused', false, (world) => putKey(world, 'nobodys-key'), putBack),
  edit('no Secret', false, takeKey, putBack),
  edit('another Secret', false, set({ apiKeySecretRef: { name: SECOND } }), () => undefined),
  edit('another header', false, set({ versionHeader: 'X-Version' }), set({ versionHeader: 'Service-Version' })),
  edit('another CA', false, set({ caBundle: CERTIFICATE }), set({ caBundle: null })),
  edit('a small budget', false, set({ rateLimit: { requestsPerMinute: 1, burst: 1 } }), set({ rateLimit: null })),
  edit('a large budget', false, set({ rateLimit: { requestsPerMinute: 6000, burst: 100 } }), () => undefined),
  edit('recreated', false, makeAnew({}), () => undefined),
  edit('recreated, confirmed long ago', false, makeAnew({}, CONFIRMED), () => undefined),
  edit('recreated elsewhere', true, makeAnew({ baseURL: ELSEWHERE }), set({ baseURL: 'https://api.example.com' })),
  edit(
    'recreated elsewhere, confirmed long ago',
    true,
    makeAnew({ baseURL: ELSEWHERE }, CONFIRMED),
    set({ baseURL: 'https://api.example.com' }),
  ),
  edit('another interval', false, set({ resyncInterval: '1s' }), set({ resyncInterval: '60s' })),
]

/** Creates what the edits need. */
export function prepareEdits(world: SimulatedWorld): void {
  world.api.emulator.admin.seed({ accounts: [{ name: OTHER_ACCOUNT, apiKey: OTHER_KEY }] })
  world.putSecret(SECOND, { apiKey: KEY }, world.keyNamespace)
}

/** Objects that operators have created in the other account. */
export function madeElsewhere({ api }: SimulatedWorld): readonly string[] {
  const other = Object.values(api.emulator.admin.snapshot().accounts).filter(({ name }) => name === OTHER_ACCOUNT)
  if (other.length !== 1) return [`there are ${other.length} other accounts`]
  return JSON.stringify(other).includes('culvert') ? ['something was made in another account'] : []
}

function edit(title: string, isElsewhere: boolean, begin: AccountEdit['begin'], end: AccountEdit['end']): AccountEdit {
  return { title, isElsewhere, keepsWorking: OPEN.has(title), losesStatus: title.startsWith('recreated'), begin, end }
}

/** Like a restore, which bypasses the CRD's rules about changes. */
function set(spec: Fields): AccountEdit['begin'] {
  return ({ kube, accountType, accountKey }) => void kube.mergePatch(accountType, accountKey, { spec })
}

/** Deletes the Account, whatever needs it, and creates it again without its status, as a restore does. */
function makeAnew(changes: Fields, annotations: Readonly<Record<string, string>> = {}): AccountEdit['begin'] {
  return ({ account, accountType, accountKey, kube, server }) => {
    if (account === undefined) throw new Error('there is no Account')
    kube.mergePatch(accountType, accountKey, { metadata: { finalizers: [] } })
    kube.delete(accountType, accountKey)
    server.create(accountType, accountKey, { metadata: { annotations }, spec: { ...account.spec, ...changes } })
  }
}

function takeKey({ kube, keyNamespace }: SimulatedWorld): void {
  kube.delete(secretType, { namespace: keyNamespace, name: 'key' })
}

function putBack(world: SimulatedWorld): void {
  putKey(world, KEY)
}

function putKey(world: SimulatedWorld, apiKey: string): void {
  world.putSecret('key', { apiKey }, world.keyNamespace)
}

import { secretType } from '../../../src/managed/inputs.ts'
import { KEY, OTHER_ACCOUNT, OTHER_KEY } from './api-server.ts'
import { NAMESPACE, type SimulatedWorld } from './world.ts'

type Fields = Readonly<Record<string, unknown>>

const ACCOUNT = { namespace: NAMESPACE, name: 'default' }
const SECOND = 'second'
/** A certificate is looked at only where there are sockets. */
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n'

/** What people may do to the Account while resources live in it. */
export interface AccountEdit {
  readonly title: string
  /** Whether it leads to another account: one that holds nothing yet takes it for its own. */
  readonly isElsewhere: boolean
  readonly begin: (world: SimulatedWorld) => void
  /** Makes it as it was, or right. */
  readonly end: (world: SimulatedWorld) => void
}

export const accountEdits: readonly AccountEdit[] = [
  edit(
    'another address',
    true,
    set({ baseURL: 'https://api.example.com/elsewhere' }),
    set({ baseURL: 'https://api.example.com' }),
  ),
  edit('another account’s key', true, (world) => world.putSecret('key', { apiKey: OTHER_KEY }), putBack),
  edit('a key that is refused', false, (world) => world.putSecret('key', { apiKey: 'nobodys-key' }), putBack),
  edit('no Secret', false, (world) => world.kube.delete(secretType, { namespace: NAMESPACE, name: 'key' }), putBack),
  edit('another Secret', false, set({ apiKeySecretRef: { name: SECOND } }), () => undefined),
  edit('another header', false, set({ versionHeader: 'X-Version' }), set({ versionHeader: 'Service-Version' })),
  edit('another CA', false, set({ caBundle: CERTIFICATE }), set({ caBundle: null })),
  edit('a small budget', false, set({ rateLimit: { requestsPerMinute: 1, burst: 1 } }), set({ rateLimit: null })),
  edit('a large budget', false, set({ rateLimit: { requestsPerMinute: 6000, burst: 100 } }), () => undefined),
  edit('another interval', false, set({ resyncInterval: '1s' }), set({ resyncInterval: '60s' })),
]

/** What the edits need to be there. */
export function prepareEdits(world: SimulatedWorld): void {
  world.api.emulator.admin.seed({ accounts: [{ name: OTHER_ACCOUNT, apiKey: OTHER_KEY }] })
  world.putSecret(SECOND, { apiKey: KEY })
}

/** How many objects of operators the other account holds. */
export function madeElsewhere({ api }: SimulatedWorld): readonly string[] {
  const { accounts } = api.emulator.admin.snapshot()
  const text = JSON.stringify(accounts[OTHER_ACCOUNT] ?? {})
  return text.includes('culvert') ? ['something was made in another account'] : []
}

function edit(title: string, isElsewhere: boolean, begin: AccountEdit['begin'], end: AccountEdit['end']): AccountEdit {
  return { title, isElsewhere, begin, end }
}

/** As a restore does, which asks no rule of the CRD what may change. */
function set(spec: Fields): AccountEdit['begin'] {
  return ({ kube, kinds }) => void kube.mergePatch(kinds.accountType('Account'), ACCOUNT, { spec })
}

function putBack(world: SimulatedWorld): void {
  world.putSecret('key', { apiKey: KEY })
}

import { caPem } from '../../builders/contract/ca-pem.ts'
import { sshKeys } from '../../builders/contract/ssh-keys.ts'
import type { SimulatedWorld } from '../simulation/world.ts'

type Body = Readonly<Record<string, unknown>>

/**
 * Bodies of objects without a marker, by collection; `of` gives the id of the unmarked object created earlier in a
 * collection.
 */
type Stranger = (number: number, of: (path: string) => string) => Body

const described = (number: number): Body => ({ description: `a stranger's, ${number}` })

/** One for each collection, ordered after the collections it refers to. */
const strangers: Readonly<Record<string, Stranger>> = {
  api_keys: described,
  credentials: described,
  ssh_credentials: () => ({ public_key: sshKeys.ed25519 }),
  bot_users: (number) => ({ name: `stranger ${number}` }),
  ip_policies: described,
  ip_policy_rules: (number, of) => ({
    cidr: `203.0.113.${number}/32`,
    action: 'allow',
    ip_policy_id: of('ip_policies'),
  }),
  ip_restrictions: (_number, of) => ({ type: 'dashboard', ip_policy_ids: [of('ip_policies')] }),
  reserved_domains: (number) => ({ domain: `stranger-${number}.tunnel.example` }),
  reserved_addrs: described,
  agent_ingresses: (number) => ({ domain: `stranger-${number}.example.net` }),
  'backends/tunnel_group': (number) => ({ labels: { stranger: String(number) } }),
  'backends/http_response': described,
  'backends/weighted': described,
  'backends/failover': described,
  'edges/tcp': described,
  'edges/tls': described,
  ssh_certificate_authorities: described,
  ssh_user_certificates: (_number, of) => ({
    ssh_certificate_authority_id: of('ssh_certificate_authorities'),
    public_key: sshKeys.ed25519,
  }),
  ssh_host_certificates: (_number, of) => ({
    ssh_certificate_authority_id: of('ssh_certificate_authorities'),
    public_key: sshKeys.ed25519,
  }),
  certificate_authorities: () => ({ ca_pem: caPem }),
  event_destinations: () => ({ format: 'json', target: { monitor: { api_key: 'k' } } }),
  event_subscriptions: (_number, of) => ({ sources: [], destination_ids: [of('event_destinations')] }),
}

/** Puts two unmarked objects into every collection of the world's kinds, and makes lists return pages of one. */
export async function amongStrangers(world: SimulatedWorld): Promise<void> {
  const wanted = new Set(
    world.kinds.managed.flatMap(({ identity: { collections }, children }) => {
      return [...collections, ...(children === undefined ? [] : [children.collection])].map(({ path }) => path)
    }),
  )
  const made = new Map<string, string>()
  const of = (path: string): string => {
    const id = made.get(path)
    if (id === undefined) throw new Error(`no stranger was made in ${path} before`)
    return id
  }
  // The objects that a wanted one refers to must exist as well.
  const needed = Object.entries(strangers).filter(([path]) => wanted.has(path) || REFERRED.has(path))
  for (const [path, body] of needed) {
    for (const number of [1, 2]) {
      const { id } = await world.api.ask('POST', `/${path}`, body(number, of))
      made.set(path, String(id))
    }
  }
  for (const path of wanted) if (!made.has(path)) throw new Error(`nobody says what a stranger in ${path} is`)
  world.api.pageSize = 1
}

const REFERRED: ReadonlySet<string> = new Set(['ip_policies', 'ssh_certificate_authorities', 'event_destinations'])

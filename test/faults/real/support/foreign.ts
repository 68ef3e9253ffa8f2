import { caPem } from '../../../builders/contract/ca-pem.ts'
import type { World } from '../../../cluster/support/world.ts'

/** Bodies of objects that fill a second page of their collection, besides those of the suite. */
const BODIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ip_policies: {},
  'backends/tunnel_group': {},
  'edges/tcp': {},
  reserved_domains: { domain: 'foreign-{n}.tunnel.example' },
  reserved_addrs: {},
  agent_ingresses: { domain: 'foreign-ingress-{n}.tunnel.example' },
  bot_users: { name: "somebody else's {n}" },
  certificate_authorities: { ca_pem: caPem },
  ssh_certificate_authorities: {},
}

/** Enough that a list does not end with its first page of 100 (`api-decisions.md § Lists`). */
const COUNT = 110

/** Collections whose objects belong to the account's own user. */
const OWNED = ['api_keys', 'credentials']

/** Collections that `seedForeign` fills. */
export const longCollections: readonly string[] = [...Object.keys(BODIES), ...OWNED]

/** Puts foreign objects into the account. @returns their ids */
export async function seedForeign(world: World): Promise<readonly string[]> {
  const [own] = await world.remote('api_keys')
  const owned = OWNED.map((collection) => [collection, { owner_id: String(own?.owner_id) }] as const)
  const bulk = [...Object.entries(BODIES), ...owned].map(([collection, body]) => ({ collection, count: COUNT, body }))
  world.emulator.admin.seed({ bulk })
  const objects = await Promise.all(longCollections.map((path) => world.remote(path)))
  return objects.flat().map(({ id }) => String(id))
}

import { DESCRIBED, id, REGIONS, SHOWN_TEXTS } from '../fields/conventions.ts'
import { fixed, optional, updateOnly } from '../fields/field.ts'
import { nullable, REF, TEXT } from '../fields/json-schema.ts'
import { oneOf } from '../fields/readers.ts'
import type { Resource } from '../objects/resource.ts'
import type { WriteContext } from '../objects/write-context.ts'
import { textOf } from '../values/json.ts'

const FIRST_PORT = 10_000
const PORTS = 20_000
const HOSTS = 9

/** Reserved TCP addresses; `addr` is assigned at create. */
export const reservedAddrs: Resource = {
  path: 'reserved_addrs',
  listKey: 'reserved_addrs',
  idPrefix: 'ra',
  eventName: 'reserved_addr',
  served: true,
  fields: {
    ...DESCRIBED,
    region: fixed(optional(oneOf(...REGIONS), 'us')),
    endpoint_configuration_id: updateOnly(optional(id, null)),
  },
  prepare: ({ before, given, next }, context) => {
    if (before === undefined) next.addr = freeAddress(textOf(next, 'region'), context)
    if (typeof given.endpoint_configuration_id === 'string') {
      context.resolve(['endpoint_configurations'], given.endpoint_configuration_id, 'endpoint_configuration_id')
    }
  },
  claims: (address) => [{ scope: 'addr', value: textOf(address, 'addr'), field: 'addr' }],
  shows: { ...SHOWN_TEXTS, addr: TEXT, region: oneOf(...REGIONS).schema, endpoint_configuration: nullable(REF) },
  render: (address, view) => ({
    description: textOf(address, 'description'),
    metadata: textOf(address, 'metadata'),
    addr: textOf(address, 'addr'),
    region: textOf(address, 'region'),
    endpoint_configuration: view.ref(address.endpoint_configuration_id),
  }),
  parts: [{ name: 'endpoint_configuration', clear: () => ({ endpoint_configuration_id: null }) }],
}

/** A free address: a random start, then the next free port. */
function freeAddress(region: string, context: WriteContext): string {
  const { random, serviceDomain } = context.services
  const start = Math.floor(random.next() * HOSTS * PORTS)
  for (let step = 0; step < HOSTS * PORTS; step += 1) {
    const number = (start + step) % (HOSTS * PORTS)
    const host = `${1 + Math.floor(number / PORTS)}.tcp.${region}.${serviceDomain}`
    const value = `${host}:${FIRST_PORT + (number % PORTS)}`
    if (context.store.claimant({ scope: 'addr', value }) === undefined) return value
  }
  throw new Error(`every address of region ${region} is reserved`)
}

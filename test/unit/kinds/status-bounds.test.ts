import { expect, test } from 'vitest'
import { rootSchema } from '../../../scripts/crds/crd.ts'
import type { RemoteObject } from '../../../src/api/types.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { compileNode } from '../../../src/schema/validator.ts'
import { specsOf } from '../../kinds/lookup.ts'

/** More of everything than a status can contain. */
const MANY = 1000
const LONG = 5000
const long = 'x'.repeat(LONG)
const many = Array.from({ length: MANY }, (_, index) => index)
const refs = [...many.map((index) => ({ id: `id_${index}` })), { id: long }]

const oversize: RemoteObject = {
  id: 'x',
  acl: [...many.map((index) => `bind:app=${index}`), `bind:app=${long}`],
  enforced: true,
  ip_policies: refs,
  labels: Object.fromEntries([...many.map((index) => [`key-${index}`, long] as const), [long, 'x'] as const]),
  tunnels: refs,
  backends: Object.fromEntries([...many.map((index) => [`id_${index}`, 2 ** 40] as const), [long, 1] as const]),
  backend: { backend: { id: long } },
  ip_restriction: { ip_policies: refs },
  mutual_tls: { certificate_authorities: refs },
  tls_termination: { terminate_at: long, min_version: long },
  policy: { inbound: many, outbound: long },
  certificate_management_policy: { authority: long, private_key_type: long },
}

/** The object in the API's form, with every text and every list excessively long. */
function blown(value: unknown, entries = MANY): unknown {
  if (Array.isArray(value)) return Array.from({ length: entries }, (_, index) => blown(value[index % value.length], 2))
  if (isPlain(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, blown(each, entries)]))
  return typeof value === 'boolean' || typeof value === 'number' || value === null ? value : long
}

/** Whether it is an object of the API; an object that describes the form of a text is an instance of a class. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

test.each(
  kinds.flatMap((descriptor) =>
    descriptor.role === 'managed' ? [{ kind: descriptor.definition.kind, descriptor }] : [],
  ),
)('the status of $kind takes what an API shows, however much that is', ({ descriptor }) => {
  const schema = rootSchema(descriptor.definition).properties?.status
  if (schema === undefined) throw new Error('a kind has a status')
  const failover: RemoteObject = { ...oversize, backends: [...many.map((index) => `id_${index}`), long] }
  const { kind } = descriptor.definition
  const around = { name: 'x', id: () => 'x', addr: () => 'x', ownUser: 'x' }
  const shown = specsOf(kind).map(({ object }) => blown(object(around)) as RemoteObject)
  const compiled = compileNode(schema)
  const rules = many.map((index) => ({ ...oversize, id: `rule_${index}`, cidr: long, action: long }))
  const statuses = [oversize, failover, ...shown].map((remote) => descriptor.status.shown(remote, {}))
  for (const status of [...statuses, descriptor.children?.status(rules) ?? {}]) {
    const validation = compiled.validate(status)
    expect(validation.ok ? [] : validation.errors).toEqual([])
  }
})

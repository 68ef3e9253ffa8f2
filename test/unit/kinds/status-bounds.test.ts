import { expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { rootSchema } from '../../../src/schema/crd.ts'
import { compileNode } from '../../../src/schema/validator.ts'

/** More of everything than a status takes. */
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

test.each(
  kinds.flatMap((descriptor) =>
    descriptor.role === 'managed' ? [{ kind: descriptor.definition.kind, descriptor }] : [],
  ),
)('the status of $kind takes what an API shows, however much that is', ({ descriptor }) => {
  const schema = rootSchema(descriptor.definition).properties?.status
  if (schema === undefined) throw new Error('a kind has a status')
  const failover: RemoteObject = { ...oversize, backends: [...many.map((index) => `id_${index}`), long] }
  for (const remote of [oversize, failover]) {
    const validation = compileNode(schema).validate(descriptor.status(remote, {}))
    expect(validation.ok ? [] : validation.errors).toEqual([])
  }
})

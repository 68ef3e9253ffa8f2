import { expect, test } from 'vitest'
import { SharedWorld } from '../../../builders/shared-world.ts'

/* Ids of objects of no kind of Culvert's: as much of a shared account as `unmanagedObjects` says. */

const ID = 'of-somebody'
const fields = [
  ['ReservedAddress', 'endpointConfigurationRef.id', { endpointConfigurationRef: { id: ID } }],
  [
    'ReservedDomain',
    'httpEndpointConfigurationRef.id',
    { domain: 'a.example.com', httpEndpointConfigurationRef: { id: ID } },
  ],
  [
    'ReservedDomain',
    'httpsEndpointConfigurationRef.id',
    { domain: 'a.example.com', httpsEndpointConfigurationRef: { id: ID } },
  ],
  [
    'ReservedDomain',
    'certificate.uploaded.id',
    { domain: 'a.example.com', certificate: { type: 'Uploaded', uploaded: { id: ID } } },
  ],
] as const
const levels = [
  ['Deny', false],
  ['Reference', true],
  ['Adopt', true],
] as const

test.each(levels.flatMap(([level, isUsed]) => fields.map((field) => [level, ...field, isUsed] as const)))(
  'with unmanaged objects %s, %s spec.%s is used only if that allows it',
  async (unmanagedObjects, kind, path, spec, isUsed) => {
    const shared = SharedWorld.start({ unmanagedObjects })
    const at = `blog/${kind}/own`
    shared.apply(at, spec)
    if (isUsed) {
      await shared.ready(at)
      expect(JSON.stringify(shared.world.account.all())).toContain(ID)
      return
    }
    const said = await shared.says(at, 'Synced', 'ReferenceNotPermitted')
    expect(said).toContain(`spec.${path}: ${ID}`)
    expect(shared.world.writes.filter((write) => /^(POST|PATCH) reserved_/.test(write))).toEqual([])
    expect(JSON.stringify(shared.world.account.all())).not.toContain(ID)
  },
)

test('in an account of its own namespace, each of them is used', async () => {
  const shared = SharedWorld.start()
  shared.world.apply('ReservedAddress', 'own', { endpointConfigurationRef: { id: ID } })
  await shared.ready('shop/ReservedAddress/own')
  expect(JSON.stringify(shared.world.account.all())).toContain(ID)
})

import { expect, test } from 'vitest'
import { objectsIn } from '../../simulation/scenario.ts'
import { Tenants } from './tenants.ts'

/* Ids of objects of no kind of Culvert's: as much of a shared account as `unmanagedObjects` says. */

const CONFIGURATION = 'ec_somebody'
const CERTIFICATE = 'cert_somebody'
const fields = [
  ['ReservedAddress', 'endpointConfigurationRef.id', { endpointConfigurationRef: { id: CONFIGURATION } }],
  [
    'ReservedDomain',
    'httpEndpointConfigurationRef.id',
    { domain: 'a.example.com', httpEndpointConfigurationRef: { id: CONFIGURATION } },
  ],
  [
    'ReservedDomain',
    'httpsEndpointConfigurationRef.id',
    { domain: 'a.example.com', httpsEndpointConfigurationRef: { id: CONFIGURATION } },
  ],
  [
    'ReservedDomain',
    'certificate.uploaded.id',
    { domain: 'a.example.com', certificate: { type: 'Uploaded', uploaded: { id: CERTIFICATE } } },
  ],
] as const
const levels = [
  ['Deny', false],
  ['Reference', true],
  ['Adopt', true],
] as const

/** Whether an object in one of these collections refers to it. */
async function isUsedAt({ world }: Tenants, id: string): Promise<boolean> {
  const objects = [...(await objectsIn(world, 'reserved_addrs')), ...(await objectsIn(world, 'reserved_domains'))]
  return JSON.stringify(objects).includes(id)
}

async function begin(unmanagedObjects: 'Deny' | 'Reference' | 'Adopt'): Promise<Tenants> {
  const tenants = await Tenants.begin({ unmanagedObjects })
  const objects = { endpoint_configurations: [{ id: CONFIGURATION }], tls_certificates: [{ id: CERTIFICATE }] }
  tenants.world.api.emulator.admin.seed({ objects })
  return tenants
}

test.each(levels.flatMap(([level, isUsed]) => fields.map((field) => [level, ...field, isUsed] as const)))(
  'with unmanaged objects %s, %s spec.%s is used only if that allows it',
  async (unmanagedObjects, kind, path, spec, isUsed) => {
    const shared = await begin(unmanagedObjects)
    const at = `blog/${kind}/own`
    const id = path.startsWith('certificate') ? CERTIFICATE : CONFIGURATION
    shared.apply(at, spec)
    if (isUsed) await shared.ready(at)
    else {
      expect(await shared.says(at, 'Synced', 'ReferenceNotPermitted')).toContain(`spec.${path}: ${id}`)
      expect(shared.writes.filter((write) => /^api (POST|PATCH) \/reserved_/.test(write))).toEqual([])
    }
    expect(await isUsedAt(shared, id)).toBe(isUsed)
  },
)

test('in an account of its own namespace, each of them is used', async () => {
  const shared = await begin('Deny')
  shared.makeAccount()
  const accountRef = { kind: 'Account', name: 'default' }
  shared.apply('shop/ReservedAddress/own', { endpointConfigurationRef: { id: CONFIGURATION }, accountRef })
  await shared.ready('shop/ReservedAddress/own')
  expect(await isUsedAt(shared, CONFIGURATION)).toBe(true)
})

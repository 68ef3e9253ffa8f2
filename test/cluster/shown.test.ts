import { expect, test } from 'vitest'
import { DECIDED, withAlternative } from '../../src/emulator/choices/choices.ts'
import { World } from './support/world.ts'

test('statuses show what objects contain, whether or not the spec set it', async () => {
  await using world = await World.open({
    emulator: { choices: withAlternative(DECIDED, { name: 'min-version-default', value: 'tls1.2' }) },
  })
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] })
  await world.apply('Backend', 'shop', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  await world.apply('Backend', 'split', {
    type: 'Weighted',
    weighted: { backendRefs: [{ name: 'shop', weight: 3 }] },
  })
  await world.apply('TunnelCredential', 'agent', {})
  await world.apply('IPRestriction', 'api', { type: 'API', ipPolicyRefs: [{ name: 'office' }] })
  await world.apply('ReservedDomain', 'shop', {
    domain: 'shown.tunnel.example',
    certificate: { type: 'Managed', managed: {} },
  })
  await world.apply('Edge', 'front', {
    protocol: 'TLS',
    backend: { name: 'shop' },
    ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
    tlsTermination: {},
  })

  const status = async (kind: string, name: string) => (await world.ready(kind, name)).status
  const policy = (await status('IPPolicy', 'office'))?.id
  const backend = (await status('Backend', 'shop'))?.id
  expect(await status('Backend', 'shop')).toMatchObject({ labels: { app: 'shop' }, tunnelCount: 0 })
  expect(await status('Backend', 'split')).toMatchObject({ backends: [{ id: backend, weight: 3 }] })
  expect(await status('TunnelCredential', 'agent')).toMatchObject({ acl: ['*'] })
  expect(await status('IPRestriction', 'api')).toMatchObject({ enforcement: 'Warn', ipPolicyIDs: [policy] })
  expect(await status('ReservedDomain', 'shop')).toMatchObject({
    certificatePolicy: { authority: 'letsencrypt', privateKeyType: 'rsa' },
  })
  expect(await status('Edge', 'front')).toMatchObject({
    modules: {
      backend: { enabled: true, backendID: backend },
      ipRestriction: { enabled: true, ipPolicyIDs: [policy] },
      tlsTermination: { enabled: true, minVersion: 'tls1.2' },
    },
  })
})

import { expect, test } from 'vitest'
import { hardwareKeys } from '../../builders/contract/ssh-keys.ts'
import { World } from '../support/world.ts'

test('values at the limits of the contract are accepted and stored unchanged', async () => {
  await using world = await World.open()
  const rules = ['192.0.2.1', '2001:db8::1', '10.0.0.0/8'].map((cidr) => ({ cidr, action: 'Allow' }))
  await world.apply('IPPolicy', 'office', { rules })
  await world.apply('IPPolicy', 'open', { rulesSource: 'IPPolicyRules' })
  await world.apply('IPPolicyRule', 'one', { ipPolicyRef: { name: 'open' }, cidr: '192.0.2.7', action: 'Deny' })
  const acl = ['bind:app=a=b', 'bind:192.0.2.7:20000']
  await world.apply('TunnelCredential', 'agents', { acl })
  await world.apply('Backend', 'odd', { type: 'HTTPResponse', httpResponse: { statusCode: 999 } })
  for (const [name, publicKey] of Object.entries(hardwareKeys)) await world.apply('SSHCredential', name, { publicKey })
  await world.apply('SSHCertificateAuthority', 'team', {})
  await world.apply('SSHUserCertificate', 'alice', {
    sshCertificateAuthorityRef: { name: 'team' },
    publicKey: hardwareKeys.ed25519,
    principals: ['alice'],
    criticalOptions: { sourceAddresses: ['192.0.2.1', '10.0.0.0/8'] },
    output: { configMap: { name: 'alice' } },
  })
  for (const [kind, name] of [
    ['IPPolicy', 'office'],
    ['IPPolicyRule', 'one'],
    ['TunnelCredential', 'agents'],
    ['Backend', 'odd'],
    ['SSHCredential', 'ed25519'],
    ['SSHCredential', 'ecdsa'],
    ['SSHUserCertificate', 'alice'],
  ] as const) {
    await world.ready(kind, name)
  }
  const ranges = (await world.remote('ip_policy_rules')).map(({ cidr }) => cidr)
  expect(new Set(ranges)).toEqual(new Set(['192.0.2.1/32', '2001:db8::1/128', '10.0.0.0/8', '192.0.2.7/32']))
  expect(await world.remote('credentials')).toMatchObject([{ acl }])
  expect(await world.remote('backends/http_response')).toMatchObject([{ status_code: 999 }])
  const mark = world.mark()
  await world.resync()
  expect(world.writes(mark)).toEqual([])

  // An address is the range of its own: whichever is written, the rule stays the same one.
  const respelt = rules.map((rule) => (rule.cidr === '192.0.2.1' ? { ...rule, cidr: '192.0.2.1/32' } : rule))
  await world.apply('IPPolicy', 'office', { rules: respelt })
  await world.ready('IPPolicy', 'office')
  expect(world.writes(mark)).toEqual([])
  await world.apply('IPPolicy', 'office', { rules: [...respelt, ...rules.slice(0, 1)] })
  const { message } = await world.reason('IPPolicy', 'office', 'Synced', 'InvalidSpec')
  expect(message).toContain('spec.rules: 192.0.2.1/32 and 192.0.2.1 are the same range: remove one of them')
})

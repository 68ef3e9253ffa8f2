import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CheckFlags, runCheck } from '../../../src/cli/check-command.ts'
import { readEnvironment } from '../../../src/config.ts'
import { DECIDED, type Step } from '../../../src/judging/world.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import { at } from '../../builders/emulator-client.ts'
import { KubeProxy, type ProxyAct } from '../../builders/kube-proxy.ts'
import { until } from '../support/wait.ts'
import { World } from '../support/world.ts'

const INSIDE = '10.1.2.3'
const OUTSIDE = '198.51.100.9'

let world: World
/** The domain of the edge. */
let host: string

/** An edge for an office, over a group with one agent. */
beforeAll(async () => {
  world = await World.open()
  host = `${world.namespace}.tunnel.example`
  await world.apply('ReservedDomain', 'shop', { domain: host })
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.apply('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  await world.apply('Edge', 'shop', {
    protocol: 'TLS',
    hostports: [{ type: 'ReservedDomain', reservedDomainRef: { name: 'shop' }, port: 443 }],
    backend: { name: 'web' },
    ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
  })
  await world.ready('Edge', 'shop')
  const { body } = await world.api.post('/credentials', {})
  world.emulator.admin.connectAgent({ token: String(body.token), tunnels: [{ labels: { app: 'shop' } }] })
})
afterAll(() => world[Symbol.asyncDispose]())

interface Checked {
  readonly code: number
  readonly errors: string
  readonly steps: readonly Step[]
}

async function check(edge: string, given: Partial<CheckFlags>): Promise<Checked> {
  const { kubeconfig, namespace, operatorNamespace } = world
  const flags: CheckFlags = {
    ...{ kubeconfig, namespace, operatorNamespace },
    ...{ filename: [], manifestsAlone: false, output: 'json', release: 'culvert', choose: DECIDED },
    ...given,
  }
  const terminals = capturedTerminals()
  const code = await runCheck(edge, flags, { environment: readEnvironment({}), ...terminals })
  const { output, errors } = terminals.printed()
  return { code, errors, steps: output === '' ? [] : JSON.parse(output).steps }
}

const find = ({ steps }: Checked, outcome: Step['outcome']): Step | undefined =>
  steps.find((step) => step.outcome === outcome)

test('with the key of the account, an edge is judged as the account has it, and named by its resource', async () => {
  const admitted = await check('edge/shop', { from: INSIDE })
  expect([admitted.code, admitted.errors]).toEqual([0, ''])
  expect(admitted.steps.at(-1)?.details).toEqual([expect.stringMatching(/^Backend\/web: 1 tunnel online \(\d{4}-/)])
  const refused = await check(`${host}:443`, { from: OUTSIDE })
  expect(refused.code).toBe(2)
  expect(find(refused, 'refuses')).toMatchObject({
    kind: 'ip-policies',
    source: {
      name: 'IPPolicy/office',
      command: `kubectl edit ippolicies.culvert.dev/office -n ${world.namespace} --field-manager=culvert-user`,
    },
  })
})

test('restrictions that no resource has count, and what another namespace has is shown by its effect alone', async () => {
  const policy = await world.api.create('/ip_policies')
  const theirs = {
    installation: 'i',
    kind: 'IPRestriction',
    namespace: 'others',
    name: 'secret-name',
    uid: 'u',
    nonce: '0',
  }
  const metadata = JSON.stringify({ culvert: theirs })
  const body = { type: 'endpoints', enforced: true, ip_policy_ids: [policy] }
  const unmanaged = await world.api.create('/ip_restrictions', body)
  const first = await check('edge/shop', { from: INSIDE })
  await world.api.delete(`/ip_restrictions/${unmanaged}`)
  const hidden = await world.api.create('/ip_restrictions', { ...body, metadata })
  const second = await check('edge/shop', { from: INSIDE })
  await world.api.delete(`/ip_restrictions/${hidden}`)
  expect([first.code, second.code]).toEqual([2, 2])
  expect(find(first, 'refuses')).toMatchObject({ kind: 'restrictions', rule: unmanaged })
  expect(find(second, 'refuses')?.text).toContain('an IPRestriction that you may not see')
  expect(JSON.stringify(second.steps)).not.toMatch(new RegExp(`secret-name|${hidden}`))
})

test('without the key, what resources show decides, and what they do not show is named as unknown', async () => {
  await until('the status shows the tunnel', async () => {
    await world.annotate('Backend', 'web', { 'culvert.dev/reconcile-requested-at': new Date().toISOString() })
    return at(await world.get('Backend', 'web'), 'status', 'tunnelCount') === 1
  })
  await using proxy = await KubeProxy.start(world.kubeconfig)
  proxy.intercept(({ path }): ProxyAct | undefined => {
    const message = 'secrets "credentials" is forbidden: User "dev" cannot get resource "secrets"'
    return path.includes('/secrets/') ? { type: 'answer', status: 403, reason: 'Forbidden', message } : undefined
  })
  const kubeconfig = proxy.kubeconfigPath
  const open = await check('edge/shop', { from: INSIDE, kubeconfig })
  expect([open.code, open.errors]).toEqual([3, ''])
  expect(find(open, 'unknown')).toMatchObject({
    kind: 'restrictions',
    text: expect.stringMatching(/no resource shows .* you are not allowed to get secrets/),
  })
  expect(open.steps.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(1)
  expect(open.steps.at(-1)?.details).toEqual(['Backend/web: 1 tunnel online (up to 10m old)'])
  const refused = await check('edge/shop', { from: OUTSIDE, kubeconfig })
  expect([refused.code, find(refused, 'refuses')?.kind]).toEqual([2, 'ip-policies'])
})

test('a resource that does not exist is an error', async () => {
  const { code, errors } = await check('edge/nothing', { from: INSIDE })
  expect([code, errors]).toEqual([1, expect.stringContaining('Edge/nothing')])
})

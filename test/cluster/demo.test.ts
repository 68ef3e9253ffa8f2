import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProgram } from '../../controlplane/run-program.ts'
import { EmulatorClient } from '../builders/emulator-client.ts'
import { until } from './support/wait.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Resources of our kinds that the examples declare. */
const declared = globSync(
  fileURLToPath(new URL('../../examples/{quickstart,traffic}/*.yaml', import.meta.url)),
).flatMap((file) => readFileSync(file, 'utf8').match(/^apiVersion: culvert\.dev\//gm) ?? []).length

let demo: ChildProcess
let output = ''
let errors = ''
let api: EmulatorClient

beforeAll(async () => {
  demo = spawn(process.execPath, [MAIN, 'demo', '--cert-seconds', '2'], { stdio: ['ignore', 'pipe', 'pipe'] })
  demo.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  demo.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  await until('the demo is up', () => output.includes('Ctrl-C stops everything') || demo.exitCode !== null, {
    timeoutMs: 110_000,
    describe: () => output,
  })
  if (demo.exitCode !== null) throw new Error(`the demo ended with exit code ${demo.exitCode}:\n${errors}\n${output}`)
  const [, token = '', url = ''] = /Bearer (\S+)' -H 'Service-Version: 2' (http:\S+)\/edges\/tls/.exec(output) ?? []
  api = new EmulatorClient(url, token)
})

afterAll(() => {
  demo.kill('SIGTERM')
})

/** The only object of a collection, or the one with this description. */
async function only(path: string, description?: string): Promise<Record<string, unknown>> {
  const { body } = await api.get(`/${path}`)
  const objects = (Object.values(body).find(Array.isArray) ?? []) as Record<string, unknown>[]
  const found = description === undefined ? objects : objects.filter((object) => object.description === description)
  expect(found).toHaveLength(1)
  return found[0] ?? {}
}

async function all(path: string): Promise<Record<string, unknown>[]> {
  const { body } = await api.get(`/${path}`)
  return (Object.values(body).find(Array.isArray) ?? []) as Record<string, unknown>[]
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output)?.[1] ?? ''
  const program = /alias kubectl=(\S+)/.exec(output)?.[1] ?? ''
  const result = await runProgram(program, args, { env: { ...process.env, KUBECONFIG: kubeconfig } })
  expect(result.stderr).toBe('')
  return result.stdout
}

test('the demo ends with every resource Ready and prints what to try', () => {
  expect(output).toContain(`All ${declared} resources are Ready after `)
  expect(output).toContain('CertificatePending')
  expect(output).toContain('kubectl get culvert -A')
})

test('every object of the account equals its manifest', async () => {
  const office = await only('ip_policies', 'The office without its guests, and a partner')
  const shared = await only('ip_policies', '')
  const rules = (await all('ip_policy_rules')).map(({ cidr, action, description, ip_policy }) => {
    return { cidr, action, description, policy: (ip_policy as { id: string }).id }
  })
  const partners = await only('ip_policies', 'The partners, each of whom keeps a rule')
  expect(rules).toHaveLength(6)
  expect(rules).toEqual(
    expect.arrayContaining([
      { cidr: '198.51.100.0/24', action: 'allow', description: 'the office', policy: office.id },
      { cidr: '198.51.100.77/32', action: 'deny', description: 'the guest terminal', policy: office.id },
      { cidr: '2001:db8:40::/48', action: 'allow', description: 'the partner', policy: office.id },
      { cidr: '203.0.113.0/24', action: 'allow', description: '', policy: shared.id },
      { cidr: '203.0.113.128/25', action: 'allow', description: 'the partner in Berlin', policy: partners.id },
      { cidr: '203.0.113.200/32', action: 'deny', description: '', policy: partners.id },
    ]),
  )
  expect(await only('ip_restrictions')).toMatchObject({
    description: 'Agents run at the office and at partners',
    type: 'agent',
    enforced: true,
    ip_policies: expect.arrayContaining([office.id, partners.id].map((id) => expect.objectContaining({ id }))),
  })
  const signer = await only('ssh_certificate_authorities')
  expect(signer).toMatchObject({
    description: 'Signs for the people of the shop',
    key_type: 'ed25519',
    public_key: expect.stringMatching(/^ssh-ed25519 /),
  })
  expect(await only('ssh_user_certificates')).toMatchObject({
    description: 'Alice, on call',
    ssh_certificate_authority_id: signer.id,
    key_type: 'ed25519',
    principals: ['alice', 'deploy'],
    critical_options: { 'source-address': '198.51.100.0/24' },
    extensions: { 'permit-pty': '' },
    certificate: expect.stringMatching(/^ssh-ed25519-cert-v01@openssh\.com \S+ alice$/),
  })
  expect(await only('ssh_host_certificates')).toMatchObject({
    ssh_certificate_authority_id: signer.id,
    principals: ['database-1.example.com', 'database-2.example.com'],
    certificate: expect.stringMatching(/^ssh-ed25519-cert-v01@openssh\.com \S+ database$/),
  })
  const bot = await only('bot_users')
  expect(await only('ssh_credentials')).toMatchObject({
    description: 'The kiosk in the entrance hall',
    public_key: expect.stringMatching(/^ssh-ed25519 \S+ kiosk$/),
    acl: ['bind:kiosk.tunnel.example'],
    owner_id: bot.id,
  })
  expect(await only('api_keys', 'For the deployment pipeline')).toMatchObject({ owner_id: bot.id, token: null })
  expect(await only('credentials')).toMatchObject({
    description: 'Agents of the shop',
    acl: ['bind:*.tunnel.example', 'bind:app=shop', 'bind:version=*'],
    token: null,
  })
  const groups = await all('backends/tunnel_group')
  const labels = (version: string): unknown => expect.objectContaining({ labels: { app: 'shop', version } })
  expect(groups).toHaveLength(2)
  expect(groups).toEqual(expect.arrayContaining([labels('1'), labels('2')]))
  const groupId = (description: string): unknown => groups.find((group) => group.description === description)?.id
  const closed = await only('backends/http_response')
  expect(closed).toMatchObject({
    body: 'The shop is closed. Please come back in a minute.\n',
    headers: { 'content-type': 'text/plain', 'retry-after': '60' },
    status_code: 503,
  })
  const canary = await only('backends/weighted')
  expect(canary.backends).toEqual({
    [String(groupId('The current version of the shop'))]: 90,
    [String(groupId(''))]: 10,
  })
  const storefront = await only('backends/failover')
  expect(storefront.backends).toEqual([canary.id, closed.id])
  const domain = await only('reserved_domains')
  expect(domain).toMatchObject({
    domain: 'shop.tunnel.example',
    certificate: { id: expect.any(String) },
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' },
    certificate_management_status: { provisioning_job: null },
  })
  expect(await only('agent_ingresses')).toMatchObject({
    domain: 'agents.tunnel.example',
    ns_targets: [],
    certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' },
    certificate_management_status: { provisioning_job: null, renews_at: expect.any(String) },
  })
  const address = await only('reserved_addrs')
  expect(address).toMatchObject({ region: 'eu' })
  expect(await only('bot_users')).toMatchObject({ name: 'Deployment pipeline', active: true })
  const authority = await only('certificate_authorities')
  expect(authority).toMatchObject({
    description: "Certificates of the staff's laptops",
    subject_common_name: 'Test Clients CA',
    key_usages: ['keyCertSign', 'crlSign'],
  })
  const restriction = { enabled: true, ip_policies: [expect.objectContaining({ id: office.id })] }
  expect(await only('edges/tls')).toMatchObject({
    description: 'The shop',
    metadata: expect.stringMatching(/^\{"culvert":\{[^{}]*\},"team":"storefront"\}$/),
    hostports: ['shop.tunnel.example:443'],
    backend: { enabled: true, backend: { id: storefront.id } },
    ip_restriction: restriction,
    mutual_tls: { enabled: true, certificate_authorities: [expect.objectContaining({ id: authority.id })] },
    tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.2' },
    policy: {
      enabled: true,
      inbound: [
        {
          name: 'no-old-clients',
          expressions: ['conn.tls.version == "1.0"'],
          actions: [{ type: 'deny', config: { reason: 'outdated' } }],
        },
      ],
      outbound: [],
    },
  })
  expect(await only('edges/tcp')).toMatchObject({
    description: '',
    hostports: [address.addr],
    backend: { enabled: true, backend: { id: groupId('The current version of the shop') } },
    ip_restriction: restriction,
    policy: null,
  })
  const destinations = await all('event_destinations')
  expect(destinations.map(({ target }) => target)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        cloudwatch_logs: {
          log_group_arn: 'arn:aws:logs:eu-central-1:123456789012:log-group:culvert',
          auth: expect.objectContaining({ role: { role_arn: 'arn:aws:iam::123456789012:role/culvert-events' } }),
        },
      }),
      expect.objectContaining({
        monitor: expect.objectContaining({ service: 'shop', monitortags: 'team:storefront', api_key: null }),
      }),
    ]),
  )
  const subscription = await only('event_subscriptions')
  expect(subscription).toMatchObject({
    description: 'Changes to who may connect, and to what',
    sources: [
      expect.objectContaining({ type: 'ip_policy_created.v0' }),
      expect.objectContaining({ type: 'tls_edge_updated.v0' }),
    ],
  })
  const ids = new Set((subscription.destinations as { id: string }[]).map(({ id }) => id))
  expect(ids).toEqual(new Set(destinations.map(({ id }) => id)))
})

test('kubectl shows useful columns and explains the fields', async () => {
  const table = await kubectl('get', 'culvert', '-A')
  expect(table).toMatch(/NAMESPACE +NAME +PROTOCOL +ACCESS +SERVING +HOSTPORTS +READY +SYNCED +REASON +AGE/)
  expect(table).toMatch(
    /edge\.culvert\.dev\/shop +TLS +Restricted +(?:True|False) +.*shop\.tunnel\.example:443.* +True +True +Available/,
  )
  expect(await kubectl('explain', 'edge.spec.hostports')).toMatch(/DESCRIPTION:\s+\S+/)
})

test('requests reach the page through an agent, and what may not is refused', async () => {
  const shown = [
    /Traffic, by examples\/traffic: http:\S+ → Edge\/page → Backend\/front → agent → the page/,
    /the first request arrives .* after the agent was started: Hello from the page, through an agent\./,
    /a request from 127\.0\.0\.2 is refused: IPPolicy\/visitors admits only 127\.0\.0\.1/,
    /the agent is killed; .* later, Backend\/away answers: The page is away/,
    /another agent is started; .* later, the page is back/,
  ]
  for (const line of shown) expect(output).toMatch(line)
  const url = / {2}curl (http:\S+)\n/.exec(output)?.[1] ?? ''
  expect(await (await fetch(url)).text()).toBe('Hello from the page, through an agent.\n')
  const rules = JSON.stringify({ spec: { rules: [{ cidr: '192.0.2.0/24', action: 'Allow' }] } })
  await kubectl('-n', 'traffic', 'patch', 'ippolicy', 'visitors', '--type', 'merge', '-p', rules)
  await until('the page is closed', () =>
    fetch(url).then(
      () => false,
      () => true,
    ),
  )
})

test('Ctrl-C ends everything', async () => {
  const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output)?.[1] ?? ''
  expect(existsSync(kubeconfig)).toBe(true)
  const exit = once(demo, 'exit')
  demo.kill('SIGINT')
  expect(await exit).toEqual([0, null])
  expect(existsSync(kubeconfig)).toBe(false)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ControlPlane } from '../../controlplane/control-plane.ts'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { runDoctor } from '../../src/cli/doctor-command.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { leases } from '../../src/runtime/lease-lock.ts'
import { microTime } from '../../src/util/time.ts'
import { ADDED_FIELDS, ADDED_LABEL, installAddingPolicy } from './support/adding-policy.ts'
import { ask } from './support/ask.ts'
import { AuditLog } from './support/audit-log.ts'
import { OperatorAccount } from './support/operator-account.ts'
import { installOperatorPolicy } from './support/operator-policy.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { deploymentOf, deployments, reportAgents } from './support/tunnel-agent.ts'
import { until } from './support/wait.ts'
import { conditionOf, core, type ResourceCondition, World } from './support/world.ts'

/** Fields of what doctor tries: of Culvert's kinds those that Services and Tunnels own, and those that exist. */
const DOCTORED =
  /^(leases|events|accounts|ippolicies|backends)\.metadata\.labels$|^(deployments|serviceaccounts|poddisruptionbudgets|secrets)\.metadata\.labels\.|^(tunnels|edges|backends|reserved\w+|\w+credentials)\.metadata\.labels\.|^deployments\.spec/
const services = core('services', 'Service')
const secrets = core('secrets', 'Secret')
const SPEC = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }

interface Service extends KubeObject {
  readonly status?: { readonly conditions?: readonly ResourceCondition[] }
}

let cluster: ControlPlane
let world: World
beforeAll(async () => {
  cluster = await startOwnCluster({ mayRefuse: true })
  await installOperatorPolicy(cluster, { templates: 'false' })
  const gateway = { sshListen: '127.0.0.1:0', tlsListen: '127.0.0.1:0', log: () => undefined }
  world = await World.open({
    kubeconfig: cluster.kubeconfigPath,
    emulator: { gateway },
    flags: ['--tunnels', '--agent-image', 'culvert:test', '--services'],
  })
  const { baseURL, apiKeySecretRef } = (await world.get('Account', 'default'))?.spec ?? {}
  const { host, port, hostKey } = world.emulator.gateway?.ssh ?? {}
  const sshGateway = { address: `${host}:${port}`, hostKeys: [hostKey] }
  await world.apply('Account', 'default', { baseURL, apiKeySecretRef, resyncInterval: '10m', sshGateway })
  await world.apply('Backend', 'shop', { type: 'TunnelGroup', tunnelGroup: { labels: { app: 'shop' } } })
  await world.ready('Backend', 'shop')
  await deployOperator()
  expect(await doctor()).toEqual([])
  await installAddingPolicy(cluster, world)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster.stop()
})

/** Deployment and Lease of an operator that runs in the cluster, as far as `culvert doctor` reads them. */
async function deployOperator(): Promise<void> {
  const { host, port } = world.emulator.gateway?.ssh ?? {}
  const args = [
    'operator',
    '--tunnels',
    '--agent-image=culvert:test',
    `--allow-ssh-gateway=${host}:${port}`,
    '--services',
  ]
  const labels = { app: 'culvert' }
  const containers = [
    { name: 'operator', image: 'culvert:test', args: [...args, `--watch-namespace=${world.namespace}`] },
  ]
  const template = { metadata: { labels }, spec: { serviceAccountName: 'culvert', containers } }
  const key = { namespace: world.operatorNamespace, name: 'culvert' }
  await world.kube.create(deployments, key, { spec: { selector: { matchLabels: labels }, template } })
  const spec = { holderIdentity: 'any', leaseDurationSeconds: 3600, renewTime: microTime(Date.now()) }
  await world.kube.create(leases, key, { spec })
}

/** What `culvert doctor` finds about the operator's writes. */
async function doctor(kubeconfig = world.kubeconfig): Promise<readonly Finding[]> {
  const flags = { allNamespaces: false, dnsServer: [], release: 'culvert', operatorNamespace: world.operatorNamespace }
  const { lines } = await ask({ kubeconfig, namespace: world.namespace }, (asked) => {
    return runDoctor(asked, { ...flags, output: 'json' })
  })
  const { findings } = JSON.parse(lines.join('\n')) as { readonly findings: readonly Finding[] }
  return findings.filter(({ check }) => check === 'writes')
}

async function serviceIs(name: string, reason: string): Promise<ResourceCondition> {
  const look = async (): Promise<ResourceCondition | undefined> => {
    const service = await world.kube.get<Service>(services, { namespace: world.namespace, name })
    const condition = service?.status?.conditions?.find(({ type }) => type === 'culvert.dev/ready')
    return condition?.reason === reason ? condition : undefined
  }
  return await until(`Service ${name} has the reason ${reason}`, look, { timeoutMs: 60_000 })
}

async function serve(name: string): Promise<void> {
  const ports = [{ name: 'http', port: 80 }]
  const spec = { type: 'LoadBalancer', loadBalancerClass: 'culvert.dev/edge', selector: { app: name }, ports }
  const key = { namespace: world.namespace, name }
  await world.kube.apply(services, key, { apiVersion: 'v1', kind: 'Service', metadata: key, spec })
}

/** Waits until a Tunnel reports a refused field, with the remedy. */
async function refusedOf(tunnel: string, field: string): Promise<void> {
  const cr = await world.until('Tunnel', tunnel, `names ${field}`, (each) => {
    const { reason, message = '' } = conditionOf(each, 'Synced') ?? {}
    return reason === 'WriteRefused' && message.includes(field)
  })
  const { message } = conditionOf(cr, 'Synced') as ResourceCondition
  const [, added = ''] =
    /a mutating webhook added ([^:]+): .*admissionPolicy\.operator\.extraFields/.exec(message) ?? []
  expect(added.split(', ')).toContain(field)
  expect(message).not.toContain('Culvert itself sent')
  expect(conditionOf(cr, 'Stalled')).toMatchObject({ status: 'True', reason: 'WriteRefused' })
}

async function admit(extraFields: readonly string[]): Promise<void> {
  await installOperatorPolicy(cluster, { templates: 'false', extraFields: JSON.stringify(extraFields) })
}

/** Has everything tried again now that waits after a refusal. */
async function restart(): Promise<void> {
  await world.operator.stop()
  await world.startOperator()
}

const isInPods = (field: string): boolean => field.startsWith('deployments.spec.')

test('what a mutating webhook adds is refused, and conditions and metric name the field and the remedy', async () => {
  await world.apply('IPPolicy', 'office', { allowEmpty: true })
  const { message } = await world.reason('IPPolicy', 'office', 'Ready', 'WriteRefused')
  expect(message).toContain('a mutating webhook added ippolicies.metadata.labels:')
  expect(message).toContain('admissionPolicy.operator.extraFields')
  await world.reason('IPPolicy', 'office', 'Stalled', 'WriteRefused')

  const { baseURL, apiKeySecretRef } = (await world.get('Account', 'default'))?.spec ?? {}
  await world.apply('Account', 'another', { baseURL, apiKeySecretRef })
  const ofAccount = await world.reason('Account', 'another', 'Ready', 'WriteRefused')
  expect(ofAccount.message).toContain('a mutating webhook added accounts.metadata.labels:')

  await world.apply('Tunnel', 'agents', SPEC)
  await refusedOf('agents', `secrets.metadata.labels.${ADDED_LABEL}`)
  await serve('served')
  const said = await serviceIs('served', 'WriteRefused')
  expect(said.message).toContain(`reservedaddresses.metadata.labels.${ADDED_LABEL}`)

  const counted = (resource: string, field: string) => {
    const labels = [`resource="${resource}"`, `field="${field}"`]
    return world.operator.metric('culvert_kubernetes_refused_writes_total', ...labels)
  }
  expect(await counted('ippolicies', 'metadata.labels')).toBeGreaterThan(0)
  expect(await counted('secrets', 'metadata.labels')).toBeGreaterThan(0)
  expect(await counted('reservedaddresses', 'metadata.labels')).toBeGreaterThan(0)

  const [finding, ...others] = await doctor()
  expect(others).toEqual([])
  expect(finding).toMatchObject({ severity: 'error', remedy: /A mutating webhook added .*extraFields/ })
  for (const field of ADDED_FIELDS.filter((each) => DOCTORED.test(each))) expect(finding?.remedy).toContain(field)

  // The Deployment comes last: what is added to its Pods is named once the rest is admitted.
  await admit(ADDED_FIELDS.filter((field) => !isInPods(field)))
  await restart()
  await refusedOf('agents', 'deployments.spec.template.spec.tolerations')
  await refusedOf('agents', 'deployments.spec.template.spec.imagePullSecrets')
  expect(await counted('deployments', 'spec.template.spec.tolerations')).toBeGreaterThan(0)
})

test('with these fields admitted, everything gets Ready, and nothing is written at rest', async () => {
  await admit(ADDED_FIELDS)
  await restart()
  await world.ready('IPPolicy', 'office', 120_000)
  await world.reason('Account', 'another', 'Ready', 'Available', 120_000)
  await world.delete('Account', 'another')
  await world.gone('Account', 'another')
  const { metadata, spec } = await deploymentOf(world, 'agents')
  expect(metadata.labels).toMatchObject({ [ADDED_LABEL]: 'yes' })
  expect(spec.template.spec).toMatchObject({
    tolerations: [{ key: 'added', operator: 'Exists' }],
    imagePullSecrets: [{ name: 'added' }],
  })
  await reportAgents(world, 'agents')
  await world.ready('Tunnel', 'agents', 120_000)
  const own = await until('the Tunnel of the Service', async () => {
    return (await world.list('Tunnel')).find(({ metadata: { name } }) => name.startsWith('served-'))
  })
  await deploymentOf(world, own.metadata.name)
  await reportAgents(world, own.metadata.name)
  await serviceIs('served', 'Available')

  expect(await doctor()).toEqual([])
  const audit = new AuditLog(cluster.auditLogPath as string)
  const mark = await audit.mark()
  // Every object that the operator watches changes; the next resource is Ready once it has looked at them all.
  const touch = { metadata: { annotations: { 'example.com/touched': 'yes' } } }
  for (const tunnel of ['agents', own.metadata.name]) {
    const key = { namespace: world.namespace, name: `${tunnel}-tunnel` }
    await world.kube.mergePatch(deployments, key, touch)
    await world.annotate('Tunnel', tunnel, { 'example.com/touched': 'yes' })
  }
  await world.kube.mergePatch(services, { namespace: world.namespace, name: 'served' }, touch)
  await world.annotate('IPPolicy', 'office', { 'example.com/touched': 'yes' })
  await world.secret('unrelated', { any: 'thing' })
  await world.apply('IPPolicy', 'later', { allowEmpty: true })
  await world.ready('IPPolicy', 'later')
  const writes = await audit.operatorWrites([world.namespace, world.operatorNamespace], mark)
  expect(writes.length).toBeGreaterThan(0)
  expect(writes.filter(({ name }) => name !== 'later')).toEqual([])
})

test('a caller who may not act as the operator learns that its writes were not tried', async () => {
  await using account = await OperatorAccount.ofNobody({
    kubeconfig: cluster.kubeconfigPath,
    kube: world.kube,
    namespace: world.namespace,
    name: 'reader',
  })
  const rbac = 'rbac.authorization.k8s.io'
  const rules = ['leases', 'deployments'].map((plural) => ({ apiGroups: ['*'], resources: [plural], verbs: ['list'] }))
  const apiVersion = `${rbac}/v1`
  const metadata = { name: 'reader' }
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'reader' }
  const subjects = [{ kind: 'ServiceAccount', namespace: world.namespace, name: account.name }]
  const items = [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ]
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  expect(await cluster.kubectl(['apply', '-f', '-'], { stdin })).toMatchObject({ code: 0 })
  const kubeconfig = account.kubeconfigFor(cluster.kubeconfigPath)
  const found = await until(
    'the roles are in force',
    async () => {
      const findings = await doctor(kubeconfig)
      return findings.some(({ cause }) => cause.includes('impersonate')) ? findings : undefined
    },
    { describe: () => doctor(kubeconfig) },
  )
  expect(found).toMatchObject([{ severity: 'unchecked', command: /can-i impersonate serviceaccounts\/culvert/ }])
})

test('culvert doctor stores nothing', async () => {
  const types = 'deployments,serviceaccounts,poddisruptionbudgets,secrets,configmaps,leases,events,culvert'
  const { stdout } = await cluster.kubectl(['get', types, '--all-namespaces', '--output', 'name'])
  expect(stdout).toContain('deployment.apps/agents-tunnel')
  expect(stdout).not.toContain('culvert-doctor')
})

test('an operator whose own Secret is refused says which field, and does not start', async () => {
  await world.operator.stop()
  await admit([])
  await world.kube.delete(secrets, { namespace: world.operatorNamespace, name: 'culvert-salt' })
  const operator = await world.startOperator([], 'serving')
  const said = 'a mutating webhook added secrets.metadata.labels'
  await until('the log names the field', async () => operator.log.includes(said), {
    describe: async () => operator.log,
  })
  expect(operator.log).not.toContain('"reconciling"')
})

import { randomBytes } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { createKubectl, type Kubectl } from '../../controlplane/kubectl.ts'
import { holdPermission } from '../../scripts/permissions/operator.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { holdName } from '../../src/managed/accounts/namespace-hold.ts'
import { type Rule, rulesOf } from '../../src/managed/permissions.ts'
import { KubeProxy } from '../builders/kube-proxy.ts'
import { AuditLog } from './support/audit-log.ts'
import { applyAll, applyNeeds, casesTitled, expectExactlyOneEach, subjectsOf } from './support/cases.ts'
import { generatedRules, OperatorAccount, type OperatorAccountOptions } from './support/operator-account.ts'
import { OPERATOR_POLICY } from './support/operator-policy.ts'
import { OperatorProcess } from './support/operator-process.ts'
import { startOwnCluster } from './support/own-cluster.ts'
import { startRelease } from './support/release.ts'
import { rightsBeyond, rightsIn } from './support/rights.ts'
import { until } from './support/wait.ts'
import { core, typeOf, World } from './support/world.ts'

const secretType = core('secrets', 'Secret')

async function rules(...names: readonly string[]): Promise<readonly string[]> {
  const all = await Promise.all(names.map((name) => generatedRules(name)))
  return rightsIn(all.flat() as readonly Rule[])
}

async function installationRules(): Promise<readonly Rule[]> {
  return (await generatedRules('installation')) as readonly Rule[]
}

/** An account that nobody judges, since its tests provoke refusals. */
function accountOf(world: World, options: Partial<OperatorAccountOptions>): Promise<OperatorAccount> {
  const { kubeconfig, kube, operatorNamespace: namespace } = world
  const name = `apart-${randomBytes(3).toString('hex')}`
  return OperatorAccount.create({ kubeconfig, kube, namespace, name, watched: [world.namespace], ...options })
}

test.each([
  { what: 'everything', scope: 'cluster', watchSecrets: true },
  { what: 'everything, Secrets unwatched', scope: 'cluster', watchSecrets: false },
  { what: 'a namespace', scope: 'namespace', watchSecrets: true },
  { what: 'a namespace, Secrets unwatched', scope: 'namespace', watchSecrets: false },
])('kubectl lists exactly the documented rights for an operator of $what', async ({ scope, watchSecrets }) => {
  await using world = await World.open({ operator: false })
  const watched = scope === 'cluster' ? undefined : [world.namespace]
  await using account = await accountOf(world, { watched, watchSecrets })
  const { kube, operatorNamespace: home, namespace, kubeconfig } = world
  await using nobody = await OperatorAccount.ofNobody({ kubeconfig, kube, namespace: home, name: 'nobody' })
  const kubectlOf = (who: OperatorAccount): Kubectl => {
    return createKubectl({ path: inject('kubectlPath'), kubeconfig: who.kubeconfigFor(kubeconfig) })
  }
  const mine = (at: string): Promise<readonly string[]> => {
    return rightsBeyond(kubectlOf(account).run, kubectlOf(nobody).run, at)
  }
  const file = `${scope}${watchSecrets ? '' : '-no-watch-secrets'}`
  const everywhere = scope === 'cluster' ? [file] : ['installation']
  const hold = rulesOf([holdPermission(holdName(home, 'culvert'))])
  const inNamespace = [...((await generatedRules(file)) as readonly Rule[]), ...hold]
  expect(await mine(namespace)).toEqual(
    scope === 'cluster' ? await rules(file) : rightsIn([...inNamespace, ...(await installationRules())]),
  )
  expect(await mine(home)).toEqual(await rules(...everywhere, 'own-namespace'))
  expect(await mine('default')).toEqual(await rules(...everywhere))
})

test('an operator’s token can hold and free its RoleBinding, and change nothing else of any', async () => {
  await using world = await World.open({ operator: false })
  await using account = await accountOf(world, {})
  const { kubeconfig, operatorNamespace: home, namespace } = world
  const kubectl = createKubectl({ path: inject('kubectlPath'), kubeconfig: account.kubeconfigFor(kubeconfig) })
  const hold = holdName(home, 'culvert')
  const patch = async (binding: string, change: object): Promise<string> => {
    const args = ['patch', 'rolebinding', binding, '-n', namespace, '--type=merge', '-p', JSON.stringify(change)]
    const { code, stderr } = await kubectl.run(args)
    return code === 0 ? 'done' : stderr
  }
  expect(await patch(hold, { metadata: { finalizers: ['culvert.dev/remote'] } })).toBe('done')
  expect(await patch(hold, { metadata: { finalizers: null } })).toBe('done')
  const thief = { kind: 'User', name: 'thief', apiGroup: 'rbac.authorization.k8s.io' }
  const subjects = [{ kind: 'ServiceAccount', name: account.name, namespace: home }, thief]
  expect(await patch(hold, { subjects })).toMatch(OPERATOR_POLICY)
  // Neither more rights nor other ones, and no other binding: RBAC sees to that by itself.
  expect(await patch(hold, { roleRef: { name: 'cluster-admin' } })).toMatch(/RBAC permissions not currently held/)
  expect(await patch(hold, { roleRef: { name: 'system:basic-user' } })).toMatch(
    /cannot change roleRef|not currently held/,
  )
  expect(await patch('culvert', { subjects })).toMatch(/cannot get resource "rolebindings"/)
  const listed = await kubectl.run(['get', 'rolebindings', '-n', namespace])
  expect(listed.stderr).toMatch(/cannot list resource "rolebindings"/)
})

test('an operator that may not watch Secrets notices changes of the named ones in time', async () => {
  const audit = AuditLog.ofSuite()
  const mark = await audit.mark()
  await using world = await World.open({ flags: ['--no-watch-secrets', '--secrets-interval', '500ms'] })
  const { kube, namespace } = world
  // A Secret that an account waits for, and the one with its key.
  await world.ready('Account', 'default')
  await world.setKey('wrong')
  await world.until('Account', 'default', 'is not Ready', (cr) => {
    return cr.status?.conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True') ?? false
  })
  await world.setKey(world.emulator.apiKey)
  await world.ready('Account', 'default')
  // An output that is taken away.
  await world.apply('TunnelCredential', 'agent', {})
  const before = await world.ready('TunnelCredential', 'agent')
  await kube.delete(secretType, { namespace, name: 'agent' })
  await world.until('TunnelCredential', 'agent', 'has another token', (cr) => {
    return cr.status?.id !== undefined && cr.status.id !== before.status?.id
  })
  await world.ready('TunnelCredential', 'agent')
  const asked = (await audit.entries(mark)).filter((entry) => entry.namespace === namespace)
  const ofData = asked.filter(({ resource, userAgent }) => userAgent === 'culvert' && resource === 'secrets')
  expect(new Set(ofData.map(({ verb }) => verb))).toEqual(new Set(['get', 'create', 'patch']))
})

test('an operator without cluster rights asks for an installation id, and works with one', async () => {
  await using world = await World.open({ operator: false })
  await using account = await accountOf(world, { installation: false })
  const options = {
    kubeconfig: account.kubeconfigFor(world.kubeconfig),
    namespace: world.operatorNamespace,
    flags: ['--watch-namespace', world.namespace, '--allow-api-host', new URL(world.emulator.url).host],
  }
  await expect(OperatorProcess.start(options)).rejects.toThrow(/kube-system.*--installation/s)
  const flags = [...options.flags, '--installation', 'mine']
  const operator = await OperatorProcess.start({ ...options, flags })
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.ready('IPPolicy', 'office')
  expect((await world.remote('ip_policies')).map(({ metadata }) => String(metadata))).toEqual([
    expect.stringContaining('"installation":"mine"'),
  ])
  await operator.kill()
})

test('a resource of any kind that is edited while its create is stored is read again, and so is a command', {
  timeout: 600_000,
}, async () => {
  const cases = casesTitled('minimal')
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  await using world = await World.open({ flags: ['--kubeconfig', proxy.kubeconfigPath] })
  await applyNeeds(world, cases, ['a'])
  const refused = new Set<string>()
  const read = new Set<string>()
  proxy.intercept(({ method, path, body }) => {
    if (method === 'GET' && refused.has(`${path}/status`)) read.add(`${path}/status`)
    const isStored = path.endsWith('/status') && (body.includes('"id":') || path.includes('/tunnelsessioncommands/'))
    if (method !== 'PATCH' || !isStored || refused.has(path)) return undefined
    refused.add(path)
    return { type: 'answer', status: 409, reason: 'Conflict' }
  })
  const subjects = subjectsOf(cases, 'a')
  await applyAll(world, subjects)
  await world.apply('TunnelSessionCommand', 'restart', { action: 'Restart', target: { type: 'ID', id: 'tn_none' } })
  await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  await expectExactlyOneEach(world)
  const plurals = [...kinds].flatMap(({ role, definition }) => {
    return role === 'managed' || role === 'command' ? [definition.plural] : []
  })
  await until('every kind was read again', () => {
    return plurals.every((plural) => [...read].some((path) => path.includes(`/${plural}/`)))
  })
})

test('a renamed output leaves no ConfigMap behind', async () => {
  await using world = await World.open()
  const find = (name: string) => world.kube.get(core('configmaps', 'ConfigMap'), { namespace: world.namespace, name })
  await world.apply('SSHCertificateAuthority', 'signer', { output: { configMap: { name: 'former' } } })
  await world.ready('SSHCertificateAuthority', 'signer')
  expect(await find('former')).toBeDefined()
  await world.apply('SSHCertificateAuthority', 'signer', { output: { configMap: { name: 'latter' } } })
  await until('the former ConfigMap is gone', async () => (await find('former')) === undefined)
  expect(await find('latter')).toBeDefined()
})

test('a finished command is deleted after its time to live', async () => {
  await using world = await World.open()
  const spec = { action: 'Stop', target: { type: 'ID', id: 'tn_none' }, ttlAfterFinished: '1s' }
  await world.apply('TunnelSessionCommand', 'stop', spec)
  await world.gone('TunnelSessionCommand', 'stop')
})

test('a release reads accounts again that change while it frees them', {
  timeout: 300_000,
}, async () => {
  await using cluster = await startOwnCluster()
  await using proxy = await KubeProxy.start(cluster.kubeconfigPath)
  await using world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', leaderElect: true })
  const key = { namespace: world.operatorNamespace, name: 'shared-key' }
  const data = { apiKey: Buffer.from(world.emulator.apiKey).toString('base64') }
  await world.kube.apply(secretType, key, { apiVersion: 'v1', kind: 'Secret', data })
  const spec = { baseURL: world.emulator.url, apiKeySecretRef: { name: key.name } }
  await world.kube.apply(typeOf('ClusterAccount'), { name: 'shared' }, { spec })
  const accounts = [
    { kind: 'Account', key: { namespace: world.namespace, name: 'default' } },
    { kind: 'ClusterAccount', key: { name: 'shared' } },
  ]
  const isHeld = async ({ kind, key: name }: (typeof accounts)[number]): Promise<boolean> => {
    const found = await world.kube.get<KubeObject>(typeOf(kind), name)
    return found?.metadata.finalizers?.includes('culvert.dev/remote') ?? false
  }
  for (const account of accounts) await until(`the ${account.kind} is held`, () => isHeld(account))
  await world.operator.stop()
  const flags = ['--kubeconfig', proxy.kubeconfigPath, '--lease-duration', '5s', '--renew-deadline', '3s']
  const release = startRelease(world, [...flags, '--request-timeout', '1900ms'])
  for (const account of accounts) {
    const plural = typeOf(account.kind).plural
    const hold = proxy.intercept(({ method, path }) => {
      return method === 'PATCH' && path.includes(`/${plural}/`) ? { type: 'hold', when: 'before' } : undefined
    })
    await hold.hits(1)
    await world.kube.mergePatch(typeOf(account.kind), account.key, { metadata: { labels: { edited: 'yes' } } })
    hold.remove()
  }
  const { code, lines } = await release.ended()
  expect(code, lines.join('\n')).toBe(0)
  for (const account of accounts) expect(await isHeld(account)).toBe(false)
})

test('an editor of a namespace writes resources, its administrator accounts, and nobody what Culvert mirrors', async () => {
  await using world = await World.open({ operator: false })
  const { kube, namespace, kubeconfig } = world
  const may: Record<string, readonly string[]> = {}
  for (const role of ['view', 'edit', 'admin']) {
    const name = `culvert-${role}`
    await kube.apply(
      { ...core('roles', 'Role'), group: 'rbac.authorization.k8s.io' },
      { namespace, name },
      {
        rules: await generatedRules(`user-${role}`),
      },
    )
    await kube.apply(
      { ...core('rolebindings', 'RoleBinding'), group: 'rbac.authorization.k8s.io' },
      { namespace, name },
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
      },
    )
    const kubectl = createKubectl({ path: inject('kubectlPath'), kubeconfig })
    const ask = async (verb: string, resource: string): Promise<boolean> => {
      const { stdout } = await kubectl.run([
        'auth',
        'can-i',
        verb,
        `${resource}.culvert.dev`,
        '-n',
        namespace,
        '--as',
        name,
      ])
      return stdout.trim() === 'yes'
    }
    await until(`the role ${role} is known`, () => ask(role === 'view' ? 'get' : 'create', 'edges'))
    const found: string[] = []
    for (const [verb, resource] of [
      ['get', 'accounts'],
      ['list', 'tunnelsessions'],
      ['create', 'edges'],
      ['create', 'tunnelsessioncommands'],
      ['update', 'accounts'],
      ['delete', 'tunnelsessions'],
    ] as const) {
      if (await ask(verb, resource)) found.push(`${verb} ${resource}`)
    }
    may[role] = found
  }
  expect(may).toEqual({
    view: ['get accounts', 'list tunnelsessions'],
    edit: ['create edges'],
    // Commands reach what other namespaces of a shared account have.
    admin: ['create edges', 'create tunnelsessioncommands', 'update accounts'],
  })
})

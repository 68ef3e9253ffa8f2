import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { runDoctor } from '../../src/cli/doctor-command.ts'
import { runWhy } from '../../src/cli/why-command.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { holdName, roleBindingType } from '../../src/managed/accounts/namespace-hold.ts'
import { SEED } from '../kinds/shared/account.ts'
import { ask } from './support/ask.ts'
import { applyAll, applyNeeds, casesTitled, managed, subjectsOf } from './support/cases.ts'
import { OperatorAccount } from './support/operator-account.ts'
import { OperatorProcess } from './support/operator-process.ts'
import { printedCommand, runPrinted } from './support/printed-command.ts'
import { startRelease } from './support/release.ts'
import { until } from './support/wait.ts'
import { core, typeOf, World } from './support/world.ts'

const PER_MINUTE = 120
const BURST = 10
const SUFFIXES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
const namespaceType = core('namespaces', 'Namespace', false)
const secretType = core('secrets', 'Secret')

async function resources(world: World): Promise<number> {
  const lists = await Promise.all(managed.map(({ definition }) => world.list(definition.kind)))
  return lists.flat().length
}

/** What the account holds for resources, the seeded objects and the world's own key aside. */
async function objects(world: World): Promise<readonly string[]> {
  const seeded = new Set<unknown>([
    world.journal()[0]?.keyId,
    ...Object.values(SEED.objects ?? {}).flatMap((each) => each.map(({ id }) => id)),
  ])
  const collections = managed.flatMap((each) => [...each.identity.collections, each.children?.collection])
  const paths = new Set(collections.flatMap((collection) => (collection === undefined ? [] : [collection.path])))
  const found = await Promise.all([...paths].map((path) => world.remote(path)))
  return found.flat().flatMap(({ id }) => (seeded.has(id) ? [] : [String(id)]))
}

test('a namespace with 200 resources of all kinds is deleted on both sides', {
  timeout: 900_000,
  tags: 'nightly',
}, async () => {
  await using world = await World.open({ rights: 'cluster' })
  const cases = casesTitled('minimal')
  await applyNeeds(world, cases, SUFFIXES)
  const subjects = SUFFIXES.flatMap((suffix) => subjectsOf(cases, suffix))
  await applyAll(world, subjects)
  await Promise.all(subjects.map(({ kind, name }) => world.ready(kind, name, 120_000)))
  expect(await resources(world)).toBeGreaterThanOrEqual(200)
  expect((await objects(world)).length).toBeGreaterThanOrEqual(200)

  await world.operator.stop()
  const rateLimit = { requestsPerMinute: PER_MINUTE, burst: BURST }
  const key = { namespace: world.namespace, name: 'default' }
  await world.kube.mergePatch(typeOf('Account'), key, { spec: { rateLimit } })
  await world.startOperator()
  await world.kube.delete(namespaceType, { name: world.namespace })
  const describe = async () => ({ left: await resources(world) })
  await until(
    'the namespace is gone',
    async () => (await world.kube.get(namespaceType, { name: world.namespace })) === undefined,
    { timeoutMs: 600_000, describe },
  )
  expect(await objects(world)).toEqual([])
})

// A namespace that is being deleted takes no Secret: nothing there can give the key back.
test('a namespace that lost every copy of its key while no operator ran goes by the command of the message', async () => {
  await using world = await World.open({ rights: 'cluster' })
  const { emulator, kube, kubeconfig, namespace, operatorNamespace } = world
  await world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
  await world.apply('Edge', 'front', { protocol: 'TCP', ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })
  await world.ready('Edge', 'front')
  const { metadata } = await world.until('Account', 'default', 'exists', () => true)
  await world.operator.stop()
  const kept = { namespace: operatorNamespace, name: `culvert-key-${metadata.uid}` }
  expect(await kube.delete(secretType, kept)).toBe(true)
  await kube.delete(namespaceType, { name: namespace })
  await until('its Secrets are gone', async () => (await kube.list(secretType, { namespace })).items.length === 0)

  await world.startOperator()
  const { message } = await world.reason('Account', 'default', 'Ready', 'Deleting')
  const command = printedCommand(message)
  const where = { output: 'text', release: 'culvert', operatorNamespace } as const
  const asked = await ask(world, (cluster) => runWhy(cluster, ['account/default'], where))
  expect(asked.lines.at(-1)?.trim()).toBe(command)
  const diagnosed = await ask(world, (cluster) =>
    runDoctor(cluster, { ...where, output: 'json', allNamespaces: false, dnsServer: [] }),
  )
  expect(JSON.parse(diagnosed.lines.join('\n')).findings).toContainEqual(expect.objectContaining({ command }))

  await runPrinted(command, kubeconfig, `${emulator.apiKey}\n`)
  const isGone = async () => (await kube.get(namespaceType, { name: namespace })) === undefined
  await until('the namespace is gone', isGone, { timeoutMs: 90_000, describe: () => world.list('Account') })
  expect(await objects(world)).toEqual([])
  expect(await kube.get(secretType, kept)).toBeUndefined()
})

/**
 * A world whose operator has rights in its namespace alone, by an account that nobody judges: its rights go while it
 * works.
 */
class Roles implements AsyncDisposable {
  readonly world: World
  readonly account: OperatorAccount
  readonly #holdNamespaces: boolean
  #operator: OperatorProcess | undefined

  private constructor(world: World, account: OperatorAccount, holdNamespaces: boolean) {
    this.world = world
    this.account = account
    this.#holdNamespaces = holdNamespaces
  }

  static async open(holdNamespaces: boolean): Promise<Roles> {
    const world = await World.open({ operator: false })
    const { kubeconfig, kube, operatorNamespace: namespace } = world
    const name = `apart-${randomBytes(3).toString('hex')}`
    const watched = [world.namespace]
    const account = await OperatorAccount.create({ kubeconfig, kube, namespace, name, watched, holdNamespaces })
    const roles = new Roles(world, account, holdNamespaces)
    await roles.start()
    return roles
  }

  async start(): Promise<void> {
    const { kubeconfig, operatorNamespace: namespace, emulator } = this.world
    const scope = ['--watch-namespace', this.world.namespace, '--allow-api-host', new URL(emulator.url).host]
    const flags = this.#holdNamespaces ? [...scope, '--hold-namespaces'] : scope
    this.#operator = await OperatorProcess.start({
      kubeconfig: this.account.kubeconfigFor(kubeconfig),
      namespace,
      leaderElect: true,
      flags,
    })
  }

  async kill(): Promise<void> {
    await this.#operator?.kill()
  }

  /** An APIKey, whose Secret goes with the namespace, and a policy with rules. */
  async fill(): Promise<void> {
    await this.world.apply('IPPolicy', 'office', { rules: [{ cidr: '10.0.0.0/8', action: 'Allow' }] })
    await this.world.apply('APIKey', 'ci', {})
    await this.world.ready('IPPolicy', 'office')
    await this.world.ready('APIKey', 'ci')
  }

  async deleteNamespace(): Promise<void> {
    await this.world.kube.delete(namespaceType, { name: this.world.namespace })
  }

  async namespaceGone(): Promise<void> {
    const { kube, namespace } = this.world
    const describe = async () => ({ left: await resources(this.world), log: this.#operator?.log.slice(-3000) })
    const isGone = async () => (await kube.get(namespaceType, { name: namespace })) === undefined
    await until('the namespace is gone', isGone, { timeoutMs: 60_000, describe })
  }

  /** Finalizers of the binding that the operator may hold; undefined when there is none. */
  async held(): Promise<readonly string[] | undefined> {
    const { kube, namespace, operatorNamespace } = this.world
    const key = { namespace, name: holdName(operatorNamespace, 'culvert') }
    const binding = await kube.get<KubeObject>(roleBindingType, key)
    return binding && (binding.metadata.finalizers ?? [])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    const { kube, namespace, operatorNamespace } = this.world
    const key = { namespace, name: holdName(operatorNamespace, 'culvert') }
    if ((await this.held())?.length) await kube.mergePatch(roleBindingType, key, { metadata: { finalizers: null } })
    await this.account[Symbol.asyncDispose]()
    await this.world[Symbol.asyncDispose]()
  }
}

const FINALIZER = 'culvert.dev/remote'

test('a namespace with its own Roles is deleted on both sides without a manual step', async () => {
  await using roles = await Roles.open(true)
  await roles.fill()
  expect(await roles.held()).toEqual([FINALIZER])
  await roles.deleteNamespace()
  await roles.namespaceGone()
  expect(await objects(roles.world)).toEqual([])
})

test('a namespace with its own Roles that was deleted while no operator ran goes too', {
  tags: 'nightly',
}, async () => {
  await using roles = await Roles.open(true)
  await roles.fill()
  await roles.kill()
  await roles.deleteNamespace()
  const { kube, namespace } = roles.world
  await until('the Role is gone', async () => {
    return (await kube.list({ ...roleBindingType, plural: 'roles', kind: 'Role' }, { namespace })).items.length === 0
  })
  await roles.start()
  await roles.namespaceGone()
  expect(await objects(roles.world)).toEqual([])
})

test('the RoleBinding is held only as long as something in its namespace needs the operator', async () => {
  await using roles = await Roles.open(true)
  const { world } = roles
  await roles.fill()
  for (const [kind, name] of [
    ['APIKey', 'ci'],
    ['IPPolicy', 'office'],
  ] as const) {
    await world.delete(kind, name)
    await world.gone(kind, name)
  }
  expect(await roles.held()).toEqual([FINALIZER])
  await world.delete('Account', 'default')
  await world.gone('Account', 'default')
  await until('the binding is let go of', async () => (await roles.held())?.length === 0)
})

test('a release frees the RoleBinding too, and completes the deletion of a namespace', {
  tags: 'nightly',
}, async () => {
  await using roles = await Roles.open(true)
  await roles.fill()
  await roles.kill()
  await roles.deleteNamespace()
  const { code, lines } = await startRelease(
    roles.world,
    ['--watch-namespace', roles.world.namespace],
    'administrator',
  ).ended()
  expect(code, lines.join('\n')).toBe(0)
  await roles.namespaceGone()
})

test('without the hold a namespace with its own Roles hangs until an administrator releases it', {
  tags: 'nightly',
}, async () => {
  await using roles = await Roles.open(false)
  await roles.fill()
  const { kube, namespace } = roles.world
  await roles.kill()
  await roles.deleteNamespace()
  await until('the Role is gone', async () => {
    return (await kube.list({ ...roleBindingType, plural: 'roles', kind: 'Role' }, { namespace })).items.length === 0
  })
  expect(await resources(roles.world)).toBeGreaterThan(0)
  const { code, lines } = await startRelease(roles.world, ['--watch-namespace', namespace], 'administrator').ended()
  expect(code, lines.join('\n')).toBe(0)
  await roles.namespaceGone()
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ControlPlane } from '../../../controlplane/control-plane.ts'
import type { AccessEntry, UnmanagedObjects } from '../../../src/managed/descriptor/access.ts'
import type { FoundReference } from '../../../src/managed/descriptor/references.ts'
import { memberKinds } from '../../builders/access.ts'
import { startOwnCluster } from '../../cluster/support/own-cluster.ts'
import { until } from '../../cluster/support/wait.ts'
import { conditionOf, core, type Resource, typeOf, World } from '../../cluster/support/world.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { type SpecCase, specsOf } from '../../kinds/lookup.ts'
import { CONFIG_MAP, SECRET, SEED } from '../../kinds/shared/account.ts'
import { label, SharedAccount } from '../support/shared-account.ts'
import { type Spec, Tenant } from '../support/tenant.ts'

/*
 * Two teams share an account and may create every kind in it. Whatever way one of them names the other's objects, none
 * is read, changed, deleted, stopped or used: checked by the API's journal, and by the objects afterwards. The cases
 * are generated from the kinds themselves.
 */

let cluster: ControlPlane
let world: World
let victim: Tenant
let mallory: Tenant
let account: SharedAccount

const kinds = memberKinds.map(({ definition }) => definition.kind)
const managed = memberKinds.filter((descriptor) => descriptor.role === 'managed')

beforeAll(async () => {
  cluster = await startOwnCluster()
  world = await World.open({ kubeconfig: cluster.kubeconfigPath, watch: 'cluster', setUp: false })
  world.emulator.admin.seed(SEED)
  victim = await tenant('victim')
  mallory = await tenant('mallory')
  account = await SharedAccount.create(world, `shared-${world.namespace}`, access('Deny'), {
    mirrorSessions: { enabled: true, interval: '1s', namespace: victim.namespace },
  })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await cluster.stop()
})

async function tenant(team: string): Promise<Tenant> {
  const made = await Tenant.create(world, team)
  await label(world, made.namespace, { team })
  await made.secret(SECRET.name, SECRET.values)
  const key = { namespace: made.namespace, name: CONFIG_MAP.name }
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: CONFIG_MAP.values }
  await world.kube.apply(core('configmaps', 'ConfigMap'), key, configMap)
  return made
}

/** The victim may use unmanaged objects; mallory as the level says. */
function access(level: UnmanagedObjects): readonly AccessEntry[] {
  return [
    { namespaceSelector: { matchLabels: { team: 'victim' } }, kinds, unmanagedObjects: 'Adopt' },
    { namespaceSelector: { matchLabels: { team: 'mallory' } }, kinds, unmanagedObjects: level },
  ]
}

/** The spec of a kind with the most references. */
function caseOf(kind: string): SpecCase {
  const counted = specsOf(kind).map((each) => [each, each.needs('any').length] as const)
  return counted.reduce((most, next) => (next[1] > most[1] ? next : most))[0]
}

function inShared(manifest: Manifest): Spec {
  return account.in(manifest)
}

async function make(whose: Tenant, manifest: Manifest): Promise<Resource> {
  await whose.apply(manifest.kind, manifest.name, inShared(manifest))
  await whose.ready(manifest.kind, manifest.name)
  return (await whose.get(manifest.kind, manifest.name)) as Resource
}

/** The address of a resource's object. */
function pathOf({ kind, spec }: Manifest, id: string): string {
  const descriptor = managed.find(({ definition }) => definition.kind === kind)
  return `/${descriptor?.identity.collectionOf(spec as never).path}/${id}`
}

/** The victim's resources of a kind, with their dependencies. */
interface Prey {
  readonly subject: Manifest
  readonly resource: Resource
  /** By `Kind/name`. */
  readonly ids: ReadonlyMap<string, string>
  /** Addresses of all these objects at the API. */
  readonly paths: readonly string[]
}

async function prey(kind: string): Promise<Prey> {
  const name = `prey-${kind.toLowerCase()}`
  const { needs, spec } = caseOf(kind)
  const subject = { kind, name, spec: spec(name) }
  const ids = new Map<string, string>()
  const paths: string[] = []
  for (const manifest of [...needs(name), subject]) {
    const { status } = await make(victim, manifest)
    ids.set(`${manifest.kind}/${manifest.name}`, status?.id ?? '')
    paths.push(pathOf(manifest, status?.id ?? ''))
  }
  return { subject, resource: (await victim.get(kind, name)) as Resource, ids, paths }
}

/** `spec` with the reference `ref` at that place. */
function withReference(spec: Spec, { path }: FoundReference, ref: Spec): Spec {
  const copy = structuredClone(spec)
  // An owner has a separate field for an id.
  if (path === 'spec.owner.botUserRef' && 'id' in ref) return { ...copy, owner: ref }
  const steps = path
    .replace(/^spec\./, '')
    .split(/[.[\]]+/)
    .filter(Boolean)
  let at: Record<string, unknown> = copy
  for (const step of steps) at = at[step] as Record<string, unknown>
  delete at.name
  delete at.id
  Object.assign(at, ref)
  return copy
}

async function said(kind: string, name: string): Promise<Resource> {
  return mallory.until(kind, name, 'is refused', (cr) => {
    const synced = conditionOf(cr, 'Synced')
    return synced?.status === 'False' && conditionOf(cr, 'Stalled')?.status === 'True'
  })
}

function expectUntold(cr: Resource): void {
  for (const { message } of cr.status?.conditions ?? []) expect(message).not.toContain(victim.namespace)
}

// First, because restrictions that the cases create lock out agents.
describe.each(['Deny', 'Adopt'] as const)('where mallory may use sessions without a resource: %s', (level) => {
  test('no session mirrored in another namespace is stopped by id, name or labels', async () => {
    await account.allow(access(level))
    const token = String((await world.api.post('/credentials', {})).body.token)
    const agent = world.emulator.admin.connectAgent({
      token,
      metadata: `agent of ${level}`,
      availableVersions: ['3.9.1'],
    })
    const id = String(agent.sessionId)
    const look = async () => (await victim.list('TunnelSession')).find(({ status }) => status?.id === id)
    const shown = await until('the session is shown', look)
    const mark = world.mark()
    const targets: Readonly<Record<string, Spec>> = {
      id: { type: 'ID', id },
      session: { type: 'Session', sessionRef: { name: shown.metadata.name } },
      selector: { type: 'Selector', selector: {} },
    }
    for (const [how, target] of Object.entries(targets)) {
      const name = `stop-${level.toLowerCase()}-${how}`
      const spec = account.in({ kind: 'TunnelSessionCommand', name, spec: { action: 'Stop', target } })
      await mallory.apply('TunnelSessionCommand', name, spec)
      await mallory.until('TunnelSessionCommand', name, 'is over or refused', (cr) => {
        const reasons = (cr.status?.conditions ?? []).map(({ reason }) => reason)
        return reasons.includes(how === 'id' ? 'ReferenceNotPermitted' : 'NoTarget')
      })
      await mallory.delete('TunnelSessionCommand', name)
    }
    expect(world.writes(mark).filter(({ path }) => path.startsWith('/tunnel_sessions/'))).toEqual([])
  })
})

describe.each(['Deny', 'Adopt'] as const)('where mallory may use objects without a resource: %s', (level) => {
  test.each(managed.map(({ definition }) => definition.kind))(
    'nothing of the %s of another is reached',
    async (kind) => {
      await account.allow(access('Deny'))
      const { subject, resource, ids, paths } = await prey(kind)
      await account.allow(access(level))
      const before = await Promise.all(paths.map((path) => world.api.get(path)))
      const mark = world.mark()
      const tries = `try-${level.toLowerCase()}-${kind.toLowerCase()}`
      const theirs = ids.get(`${kind}/${subject.name}`) ?? ''

      const own = caseOf(kind).spec(tries)
      for (const need of caseOf(kind).needs(tries)) await make(mallory, need)
      // By its id, to manage or to observe it.
      for (const managementPolicy of ['Manage', 'Observe']) {
        const name = `${tries}-${managementPolicy.toLowerCase()}`
        const spec = { ...own, externalID: theirs, managementPolicy }
        // A rule is found through the account of its policy.
        const at =
          kind === 'IPPolicyRule' ? { ...spec, ipPolicyRef: { id: ids.get(`IPPolicy/${subject.name}-policy`) } } : spec
        await mallory.apply(kind, name, account.in({ kind, name, spec: at }))
        const refused = await said(kind, name)
        expect(conditionOf(refused, 'Synced')?.reason).toMatch(/^(NotAdoptable|ReferenceNotPermitted)$/)
        expectUntold(refused)
      }

      // By every reference, with the id and with the name; all other references in the spec are mallory's own.
      const descriptor = managed.find(({ definition }) => definition.kind === kind)
      const theirReferences = descriptor?.references.of(subject.spec as never) ?? []
      const references = descriptor?.references.of(own as never) ?? []
      for (const [index, reference] of references.entries()) {
        const { kind: targetKind, ref: target } = theirReferences[index] as FoundReference
        // Objects that a spec can only name by id are unmanaged.
        if (target.name === undefined) continue
        const ways: Readonly<Record<string, Spec>> = {
          id: { id: ids.get(`${targetKind}/${target.name}`) },
          name: { namespace: victim.namespace, name: target.name },
        }
        for (const [way, ref] of Object.entries(ways)) {
          const name = `${tries}-${index}-${way}`
          const spec = withReference(own, reference, ref)
          await mallory.apply(kind, name, account.in({ kind, name, spec }))
          const refused = await said(kind, name)
          expect(conditionOf(refused, 'Synced')?.reason).toBe('ReferenceNotPermitted')
        }
      }

      // By the annotations and labels of the victim's resource.
      const { annotations = {}, labels = {} } = resource.metadata
      const copied = Object.fromEntries(Object.entries(annotations).filter(([key]) => key.includes('culvert.dev/')))
      const name = `${tries}-copied`
      const manifest = { kind, name, spec: kind === 'SSHCredential' ? { ...own, publicKeyFrom: undefined } : own }
      await mallory.apply(kind, name, account.in(manifest), { annotations: copied, labels })
      const settled = await mallory.until(kind, name, 'has its own', (cr) => {
        return cr.status?.id !== undefined || conditionOf(cr, 'Stalled')?.status === 'True'
      })
      expect(settled.status?.id).not.toBe(theirs)

      const about = [...ids.values()].filter(Boolean)
      const touched = world.writes(mark).filter(({ path, body }) => {
        const text = `${path} ${JSON.stringify(body)}`
        return about.some((id) => text.includes(id))
      })
      expect(touched).toEqual([])
      const after = await Promise.all(paths.map((path) => world.api.get(path)))
      expect(after.map(({ status, body }) => ({ status, body }))).toEqual(
        before.map(({ status, body }) => ({ status, body })),
      )
      for (const cr of await mallory.list(kind)) await mallory.delete(kind, cr.metadata.name)
      const isEmpty = async () => ((await mallory.list(kind)).length === 0 ? true : undefined)
      await until('all of mallory’s is gone', isEmpty, { describe: () => mallory.list(kind) })
      const last = await Promise.all(paths.map((path) => world.api.get(path)))
      expect(last.map(({ status }) => status)).toEqual(paths.map(() => 200))
    },
  )
})

describe('sharing on purpose', () => {
  const tunnels = { type: 'TunnelGroup', tunnelGroup: {} }
  const toVictim = () => ({ backend: { namespace: victim.namespace, name: 'shared' } })
  const front = (more: Spec = {}) => inShared({ kind: 'Edge', name: 'front', spec: { protocol: 'TCP', ...more } })
  const shared = (more: Spec = {}) => inShared({ kind: 'Backend', name: 'shared', spec: { ...tunnels, ...more } })
  const grant = () => ({ allowedReferences: [{ namespaces: [mallory.namespace] }] })

  async function says(whose: Tenant, kind: string, name: string, type: string, reason: string): Promise<string> {
    const cr = await whose.until(kind, name, `says ${reason}`, (each) => conditionOf(each, type)?.reason === reason)
    return conditionOf(cr, type)?.message ?? ''
  }

  test('a grant admits, its withdrawal keeps live references, and a deletion names the dependents it admitted', async () => {
    await account.allow(access('Deny'))
    await mallory.apply('Edge', 'front', front(toVictim()))
    const before = await says(mallory, 'Edge', 'front', 'Synced', 'ReferenceNotPermitted')
    expect(before).toContain(
      `Backend ${victim.namespace}/shared does not permit references from namespace ${mallory.namespace}`,
    )
    await victim.apply('Backend', 'shared', shared())
    await victim.ready('Backend', 'shared')
    expect(await says(mallory, 'Edge', 'front', 'Synced', 'ReferenceNotPermitted')).toBe(before)

    await victim.apply('Backend', 'shared', shared(grant()))
    await mallory.ready('Edge', 'front')
    const id = (await victim.get('Backend', 'shared'))?.status?.id ?? ''
    const edge = await world.api.get(`/edges/tcp/${(await mallory.get('Edge', 'front'))?.status?.id}`)
    expect(JSON.stringify(edge.body)).toContain(id)

    await victim.apply('Backend', 'shared', shared())
    await says(mallory, 'Edge', 'front', 'ReferencesGranted', 'GrantWithdrawn')
    expect(await says(victim, 'Backend', 'shared', 'ReferencesGranted', 'GrantWithdrawn')).not.toContain(
      mallory.namespace,
    )
    const mark = world.mark()
    await mallory.apply('Edge', 'front', front({ ...toVictim(), description: 'edited' }))
    await says(mallory, 'Edge', 'front', 'Synced', 'ReferenceNotPermitted')
    expect(world.writes(mark)).toEqual([])

    await victim.delete('Backend', 'shared')
    const held = await says(victim, 'Backend', 'shared', 'Ready', 'Deleting')
    expect(held).toMatch(/in use by \S+ of another namespace/)
    expect(held).not.toContain(mallory.namespace)
    const labels = [`namespace="${victim.namespace}"`, `by_namespace="${mallory.namespace}"`]
    expect(await world.operator.metric('culvert_deletion_held_up', ...labels)).toBe(1)
    expect(world.operator.log).toContain(`Edge/${mallory.namespace}/front`)

    const key = { namespace: victim.namespace, name: 'shared' }
    await world.kube.mergePatch(typeOf('Backend'), key, { spec: grant() })
    const named = async () => {
      const message = conditionOf(await victim.get('Backend', 'shared'), 'Ready')?.message ?? ''
      return message.includes(`Edge ${mallory.namespace}/front`) ? true : undefined
    }
    await until('the deletion names who holds it up', named)
    await mallory.delete('Edge', 'front')
    const gone = async () => ((await victim.get('Backend', 'shared')) === undefined ? true : undefined)
    await until('the backend is gone', gone, { describe: () => victim.get('Backend', 'shared') })
  })
})

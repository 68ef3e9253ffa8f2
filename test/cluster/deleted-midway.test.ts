import { expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { caPem, partnerCaPem } from '../builders/contract/ca-pem.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { managed } from './support/cases.ts'
import { Stage } from './support/stage.ts'
import type { Stop } from './support/stops.ts'
import { secrets } from './support/tokens.ts'
import { until } from './support/wait.ts'
import type { World } from './support/world.ts'

type Fields = Record<string, unknown>

/** A resource that is made, and what then makes a new object take the place of its own. */
interface Story {
  readonly name: string
  readonly kind: string
  readonly spec: Fields
  readonly change?: { readonly spec?: Fields; readonly annotations?: Readonly<Record<string, string>> }
}

const rotate = { annotations: { 'culvert.dev/rotate-requested-at': 'now' } }
const rotation = { interval: '720h', overlap: '0s' }
const certificate = {
  sshCertificateAuthorityRef: { name: 'team' },
  publicKey: sshKeys.ed25519,
  principals: ['alice'],
  validFor: '1h',
}

const STORIES: readonly Story[] = [
  { name: 'key', kind: 'APIKey', spec: { rotation }, change: rotate },
  { name: 'agent', kind: 'TunnelCredential', spec: { rotation, metadata: 'mine' }, change: rotate },
  {
    name: 'edge',
    kind: 'Edge',
    spec: {
      protocol: 'TLS',
      metadata: 'mine',
      mutualTLS: { certificateAuthorityRefs: [{ name: 'staff' }] },
      ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
    },
  },
  {
    name: 'policy',
    kind: 'IPPolicy',
    spec: {
      rules: [
        { cidr: '10.0.0.0/8', action: 'allow' },
        { cidr: '192.0.2.0/24', action: 'deny' },
      ],
    },
  },
  {
    name: 'authority',
    kind: 'CertificateAuthority',
    spec: { caPEM: caPem },
    change: { spec: { caPEM: partnerCaPem } },
  },
  {
    name: 'alice',
    kind: 'SSHUserCertificate',
    spec: certificate,
    // It is renewed as soon as it is a second old.
    change: { spec: { ...certificate, renewBefore: '59m59s' } },
  },
]

/** What stays, for others to refer to. */
const NEEDS: readonly { readonly kind: string; readonly name: string; readonly spec: Fields }[] = [
  { kind: 'CertificateAuthority', name: 'staff', spec: { caPEM: caPem } },
  { kind: 'IPPolicy', name: 'office', spec: { rules: [{ cidr: '198.51.100.0/24', action: 'allow' }] } },
  { kind: 'SSHCertificateAuthority', name: 'team', spec: {} },
]

/** A resource that is to be deleted at a stop, on its way to its first object or to the next. */
interface Victim {
  readonly story: Story
  readonly name: string
  readonly amid: 'create' | 'change'
  readonly stop: Stop
}

/** The stops on the way of each story, as one resource of each tells that nothing happens to. */
async function record({ world, stops }: Stage): Promise<readonly Omit<Victim, 'name'>[]> {
  for (const { kind, name, spec } of STORIES) await world.apply(kind, name, spec)
  const found: Omit<Victim, 'name'>[] = []
  for (const story of STORIES) {
    await world.ready(story.kind, story.name)
    found.push(...writes(stops.passed(story.name)).map((stop) => ({ story, amid: 'create' as const, stop })))
  }
  stops.mark()
  for (const story of STORIES) {
    if (story.change === undefined) continue
    const former = (await world.ready(story.kind, story.name)).status?.id
    await change(world, story, story.name)
    await world.until(story.kind, story.name, 'has replaced its object', ({ status }) => {
      return status?.id !== former && status?.superseded === undefined
    })
    found.push(...writes(stops.passed(story.name)).map((stop) => ({ story, amid: 'change' as const, stop })))
  }
  for (const { kind, name } of STORIES) await world.delete(kind, name)
  return found
}

/** At a read nothing is there that was not after the write before it. */
function writes(stops: readonly Stop[]): readonly Stop[] {
  return stops.filter(({ isWrite }) => isWrite)
}

async function change(world: World, { kind, change: { spec, annotations } = {} }: Story, name: string): Promise<void> {
  if (spec !== undefined) await world.apply(kind, name, spec)
  if (annotations !== undefined) await world.annotate(kind, name, annotations)
}

/** Takes each to its stop. */
async function takeToStops({ world, stops }: Stage, victims: readonly Victim[], stuck = false): Promise<void> {
  const later = victims.filter(({ amid }) => amid === 'change')
  const arm = ({ name, stop }: Victim) => stops.arm(name, stop)
  for (const victim of victims) if (victim.amid === 'create') arm(victim)
  for (const { story, name } of victims) await world.apply(story.kind, name, story.spec)
  for (const { story, name } of later) await world.ready(story.kind, name, 60_000)
  for (const victim of later) {
    arm(victim)
    await change(world, victim.story, victim.name)
  }
  const open = () => victims.filter(({ name }) => !stops.reached(name, stuck))
  await until('every resource has come to its stop', () => open().length === 0, {
    timeoutMs: 90_000,
    describe: () => open().map(({ name, stop }) => [name, stop]),
  })
}

/** Checks that nothing is left but what the needs stand for, at the account and in the namespace, and that nobody is missing it. */
async function expectNothingLeft(world: World): Promise<void> {
  for (const { kind } of STORIES) {
    await until(
      `only what is needed is left of ${kind}`,
      async () => {
        return (await world.list(kind)).every(({ metadata }) => NEEDS.some(({ name }) => name === metadata.name))
      },
      { timeoutMs: 120_000, describe: async () => [await world.list(kind), world.operator.log.split('\n').slice(-20)] },
    )
  }
  await world.pass()
  const needed = new Set<unknown>([world.journal()[0]?.keyId])
  for (const { kind, name } of NEEDS) needed.add((await world.ready(kind, name)).status?.id)
  for (const path of new Set(managed.flatMap(({ collections }) => collections.map((each) => each.path)))) {
    const left = (await world.remote(path)).filter(({ id, ip_policy: policy }) => {
      return !needed.has(id) && !needed.has((policy as { readonly id?: string } | undefined)?.id)
    })
    expect(left, path).toEqual([])
  }
  expect((await world.get('Account', 'default'))?.status?.orphanCount).toBe(0)
  const own = async () => {
    const { items } = await world.kube.list<KubeObject>(secrets, { namespace: world.namespace })
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'credentials')
  }
  await until('every Secret is collected', async () => (await own()).length === 0, { describe: own })
}

test('a resource that is deleted at any step of a create, rotation, replacement or renewal leaves nothing behind', {
  timeout: 900_000,
}, async () => {
  await using stage = await Stage.open({ resources: 150 })
  const { world, stops } = stage
  await stage.startOperator()
  for (const { kind, name, spec } of NEEDS) await world.apply(kind, name, spec)
  for (const { kind, name } of NEEDS) await world.ready(kind, name)
  const recorded = await record(stage)
  for (const { name, change } of STORIES) {
    const writes = recorded.filter(({ story, stop }) => story.name === name && stop.when === 'after')
    // The attempt, the create and its result; for those that are replaced twice that, and the end of the former one.
    expect(writes.length, name).toBeGreaterThanOrEqual(change === undefined ? 3 : 7)
  }
  const victims = (how: string, of = recorded): readonly Victim[] => {
    return of.map((each, index) => ({ ...each, name: `${each.story.name}-${how}-${index}` }))
  }

  const killed = victims('killed')
  await takeToStops(stage, killed)
  for (const { story, name } of killed) await world.delete(story.kind, name)
  await world.operator.kill()
  stops.releaseAll()
  await stage.startOperator()
  await expectNothingLeft(world)

  // The operator lives on, and so does the request that it was at.
  const alive = victims('alive')
  await takeToStops(stage, alive)
  for (const { story, name } of alive) {
    await world.delete(story.kind, name)
    stops.release(name)
  }
  await expectNothingLeft(world)

  // An answer of the API does not come in time: the operator has given it up, and cannot know what came of it.
  const late = recorded.filter(({ stop }) => stop.request.startsWith('API ') && stop.when === 'after')
  expect(late.some(({ stop }) => stop.request.startsWith('API POST'))).toBe(true)
  const lost = victims('lost', late)
  await takeToStops(stage, lost, true)
  for (const { story, name } of lost) {
    await world.delete(story.kind, name)
    stops.release(name)
  }
  await expectNothingLeft(world)
})

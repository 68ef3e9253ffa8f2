import { test } from 'vitest'
import { EDIT_SEED } from '../../kinds/shared/account.ts'
import { type Episode, episodes, kindsOf } from '../simulation/episodes.ts'
import type { WireAnswer } from '../simulation/faults.ts'
import { LOOK_MS, Oracle, textOf } from '../simulation/oracle.ts'
import { Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { CaseList } from '../support/case-list.ts'
import { leastOf, some } from '../support/size.ts'
import { refusal } from './api-faults-kinds.ts'
import { ClosedCollection, conditions, REASON } from './closed-collection.ts'

/** Long enough for everything that does not depend on the closed collection. */
const SETTLED_MS = 20_000

/** Resources whose collections stay open, and the specs that an edit gives them. */
const BESIDE = [
  { kind: 'ReservedAddress', path: 'reserved_addrs', spec: { region: 'eu' } },
  {
    kind: 'Backend',
    path: 'backends/tunnel_group',
    spec: { type: 'TunnelGroup', tunnelGroup: { labels: { a: 'b' } } },
  },
] as const

/** Answers to a list, each with another of the statuses that close its collection, in every shape of body. */
const ANSWERS: readonly (readonly [string, WireAnswer])[] = [
  ['403', refusal(403, 'ERR_3003', 'the key may not list these')],
  ['403 with HTML', { status: 403, headers: { 'content-type': 'text/html' }, body: '<h1>Forbidden</h1>' }],
  [
    '404',
    { status: 404, headers: { 'content-type': 'application/json' }, body: '{"errors":[{"detail":"no such path"}]}' },
  ],
  ['404 without a body', { status: 404, body: '' }],
  ['405', { status: 405, headers: { 'content-type': 'text/plain' }, body: 'method not allowed' }],
  ['410', refusal(410, 'ERR_3005', 'this collection is gone')],
  ['501', { status: 501, headers: { 'content-type': 'application/json' }, body: '"not implemented"' }],
]

/** What happens to the operator, or to whom the account belongs, while the collection is closed. */
const VARIANTS = ['left alone', 'restarted while it is closed', 'in a ClusterAccount'] as const

interface Case {
  readonly title: string
  readonly episode: Episode
  readonly name: string
  readonly answer: WireAnswer
  readonly variant: (typeof VARIANTS)[number]
}

const TURNS = / \/ (create|update|drift|deleted by somebody|rotate|delete)$/

/** One life of each kind and collection, with every answer. */
const cases: readonly Case[] = episodes
  .filter(({ title }, index) => TURNS.test(title) && episodes.findIndex((other) => other.title === title) === index)
  .flatMap((episode, index) => {
    return ANSWERS.map(([name, answer], turn) => {
      const variant = VARIANTS[(index + turn) % VARIANTS.length] ?? 'left alone'
      return { title: `${episode.title} | ${name} | ${variant}`, episode, name, answer, variant }
    })
  })

const laboratory = await Laboratory.open()

test('a collection that cannot be listed holds up its own kinds only, whenever it closes, and nothing once it opens', async () => {
  const list = new CaseList('unlistable', 'simulation', { least: leastOf(cases.length) })
  for (const each of some(cases, 40)) {
    const what = { write: each.episode.title, point: each.variant, fault: each.name }
    list.add(what, await play(each))
  }
  await list.end()
})

/** Where an operator is killed that is creating something, with the lists refused from then on. */
const KILLS = ['before', 'after', 'answered'] as const

test('a create that was cut off when its collection closed makes one object once it opens', async () => {
  const creates = episodes.filter(({ title }) => title.endsWith('/ create') && !title.includes('minimal'))
  const planned = creates.flatMap((episode) => KILLS.map((when) => ({ title: episode.title, episode, when })))
  const list = new CaseList('unlistable, creates', 'simulation', { least: leastOf(planned.length) })
  for (const { episode, when } of some(planned, 12)) {
    const what = { write: episode.title, point: when, fault: 'killed, and the lists refused from then on' }
    list.add(what, await cutOff(episode, when))
  }
  await list.end()
})

async function cutOff(episode: Episode, when: (typeof KILLS)[number]): Promise<readonly string[]> {
  const world = laboratory.world({ kinds: new Set([...kindsOf(episode), ...BESIDE.map(({ kind }) => kind)]) })
  try {
    world.api.emulator.admin.seed(EDIT_SEED)
    const oracle = await Oracle.watch(world)
    for (const { kind, name, spec } of episode.needs) world.apply(kind, name, spec)
    for (const { kind, spec } of BESIDE) world.apply(kind, 'other', spec)
    const problems = [...(await oracle.untilRest())]
    const path = pathOf(world, episode)
    const closed = new ClosedCollection(path, refusal(403, 'ERR_3003', 'the key may not list these'))
    let isKilled = false
    world.trouble = {
      request: (sighting) => {
        if (isKilled) return closed.request(sighting)
        isKilled = sighting.server === 'api' && sighting.method === 'POST' && sighting.path === `/${path}`
        return isKilled ? { type: 'kill', when } : undefined
      },
    }
    await episode.act(world, oracle)
    await world.advance(2 * LOOK_MS)
    if (!isKilled) problems.push('nothing was created')
    problems.push(...saysSo(world, episode, path), ...closed.calls)
    world.calm()
    problems.push(...(await oracle.judge()))
    return problems
  } finally {
    world.down()
  }
}

async function play({ episode, answer, variant }: Case): Promise<readonly string[]> {
  const isShared = variant === 'in a ClusterAccount'
  const kinds = new Set([...kindsOf(episode), ...BESIDE.map(({ kind }) => kind)])
  const world = laboratory.world({ kinds, isShared })
  try {
    world.api.emulator.admin.seed(EDIT_SEED)
    const oracle = await Oracle.watch(world)
    for (const { kind, name, spec } of episode.needs) world.apply(kind, name, spec)
    if (episode.before !== undefined) world.apply(episode.kind, episode.name, episode.before)
    const path = pathOf(world, episode)
    const neighbours = BESIDE.filter((each) => each.path !== path)
    for (const { kind, spec } of neighbours) {
      for (const name of ['other', 'leaving']) world.apply(kind, name, spec)
    }
    const problems = [...(await oracle.untilRest())]
    if (problems.length > 0) return problems
    const closed = new ClosedCollection(path, answer)
    world.trouble = closed
    // A resync closes a collection that is in use; otherwise the new resource itself finds out.
    await world.advance(LOOK_MS)
    await episode.act(world, oracle)
    if (variant.startsWith('restarted')) {
      await world.advance(1_000)
      world.down()
      world.up()
    }
    await world.advance(SETTLED_MS)
    problems.push(...saysSo(world, episode, path))
    problems.push(...(await goesOn(world, oracle, neighbours, path)))
    problems.push(...(await isSilent(world, oracle, closed)), ...closed.calls)
    world.calm()
    await world.advance(LOOK_MS)
    problems.push(...(await oracle.judge()))
    return [...new Set(problems)]
  } finally {
    world.down()
  }
}

function pathOf(world: SimulatedWorld, { kind, name, before, act }: Episode): string {
  let spec = before
  // The spec of an episode that creates something is known to its act only.
  void act({ apply: (_kind: string, _name: string, applied: object) => (spec = { ...applied }) } as never, {
    specChanges: () => undefined,
    meddled: () => undefined,
  }).catch(() => undefined)
  const collection = world.kinds.managedKind(kind)?.identity.collectionOf((spec ?? before) as never)
  if (collection === undefined) throw new Error(`${kind}/${name} has no collection`)
  return collection.path
}

/** The account stays Ready and names the collection; the resource waits, with the cause. */
function saysSo(world: SimulatedWorld, { title, kind, name }: Episode, path: string): readonly string[] {
  const problems: string[] = []
  const account = Object.fromEntries((world.account?.status?.conditions ?? []).map((each) => [each.type, each]))
  if (account.Ready?.status !== 'True') problems.push(`the account is not Ready: ${account.Ready?.message}`)
  if (account.Synced?.reason !== REASON || !account.Synced.message.includes(path))
    problems.push(`the account does not name ${path}: ${account.Synced?.message}`)
  const { Ready, Synced } = conditions(world, kind, name)
  if (Synced?.reason !== REASON || Synced.status !== 'False' || !Synced.message.includes(path))
    problems.push(`the resource does not say why it waits: ${Synced?.reason} ${Synced?.message}`)
  if (title.endsWith('/ create') && Ready?.status !== 'False') problems.push('a resource without an object is Ready')
  if (title.endsWith('/ delete') && !Synced?.message.includes('spec.deletionPolicy: Retain'))
    problems.push(`the deletion does not name the way out: ${Synced?.message}`)
  return problems
}

/** Other kinds: an edit, a deletion, a creation, and the repair of drift. */
async function goesOn(
  world: SimulatedWorld,
  oracle: Oracle,
  neighbours: readonly (typeof BESIDE)[number][],
  path: string,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const { kind, spec } of neighbours) {
    world.apply(kind, 'other', { ...spec, description: 'edited' })
    world.apply(kind, 'late', spec)
    world.delete(kind, 'leaving')
  }
  await world.advance(SETTLED_MS)
  for (const { kind } of neighbours) {
    const isThere = world.get(kind, 'leaving') !== undefined
    const { Synced: told } = conditions(world, kind, 'leaving')
    if (!mayRefer(world, path, kind)) {
      if (isThere) problems.push(`${kind}/leaving is still there: ${told?.message}`)
    } else if (told?.reason !== REASON || !told.message.includes('spec.deletionPolicy: Retain')) {
      problems.push(`${kind}/leaving does not wait for the list of what may refer to it: ${told?.message}`)
    }
    for (const name of ['other', 'late']) {
      const { Ready, Synced } = conditions(world, kind, name)
      if (Ready?.status !== 'True' || Synced?.status !== 'True') problems.push(`${kind}/${name}: ${Synced?.message}`)
    }
    const { description } = await objectOf(world, kind, 'other')
    if (description !== 'edited') problems.push(`${kind}/other was not edited`)
    oracle.meddled(kind, 'other')
    await changeByHand(world, kind, 'other')
  }
  await world.advance(LOOK_MS)
  for (const { kind } of neighbours) {
    const { description } = await objectOf(world, kind, 'other')
    if (description !== 'edited') problems.push(`drift of ${kind}/other was not repaired: ${description}`)
  }
  return problems
}

/** Whether objects of the closed collection may refer to objects of the kind: only their list shows that none does. */
function mayRefer({ kinds }: SimulatedWorld, path: string, kind: string): boolean {
  return kinds.referrersOf(kind).some(({ collections }) => collections.some((collection) => collection.path === path))
}

/** While nothing changes, nothing is written, and the closed collection alone is asked for more often than before. */
async function isSilent(world: SimulatedWorld, oracle: Oracle, closed: ClosedCollection): Promise<readonly string[]> {
  const { length } = oracle.writes
  const { tries } = closed
  await world.advance(2 * LOOK_MS)
  const late = oracle.writes.slice(length)
  const problems = late.map((write) => `written while nothing changed: ${textOf(write)}`)
  if (closed.tries - tries > 6) problems.push(`${closed.tries - tries} tries in ${2 * LOOK_MS} ms`)
  if (closed.tries === tries) problems.push('the collection is not tried again')
  return problems
}

async function objectOf(world: SimulatedWorld, kind: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const cr = world.get(kind, name)
  const place = cr === undefined ? undefined : world.placeOf(cr)
  return place === undefined ? {} : await world.api.ask('GET', `/${place.path}/${place.id}`)
}

async function changeByHand(world: SimulatedWorld, kind: string, name: string): Promise<void> {
  const cr = world.get(kind, name)
  const place = cr === undefined ? undefined : world.placeOf(cr)
  if (place !== undefined) await world.api.ask('PATCH', `/${place.path}/${place.id}`, { description: 'by hand' })
}

import { expect, test } from 'vitest'
import type { RemoteObject } from '../../../src/api/types.ts'
import type { JournalEntry } from '../../../src/emulator/http/journal.ts'
import { formatMarker, type Marker, markerOf } from '../../../src/managed/markers/marker.ts'
import { applyManifests, backUp, bodies, deleteAll, oneOfEach, type Subject, settled } from '../restore/lives.ts'
import { applyAll, applyNeeds, casesTitled, managed, subjectsOf } from '../support/cases.ts'
import { until } from '../support/wait.ts'
import { core, World } from '../support/world.ts'
import { markIn } from './owners.ts'
import { report } from './report.ts'

const timeout = 400_000

/** The maker of an object, as it is marked. Those without a marker have `rawMetadata`, or are bots. */
async function marks(world: World): Promise<readonly Marker[]> {
  const paths = new Set(managed.flatMap(({ identity: { collections } }) => collections.map(({ path }) => path)))
  const objects = (await Promise.all([...paths].map((path) => world.remote(path)))).flat()
  return objects.map((object) => markerOf(object as unknown as RemoteObject)).filter((mark) => mark !== undefined)
}

async function installationOf(world: World, name: string): Promise<string> {
  const system = await world.kube.get(core('namespaces', 'Namespace', false), { name: 'kube-system' })
  return `${system?.metadata.uid}/${world.operatorNamespace}/${name}`
}

/**
 * Every resource has an object that exists, and no other carries the installation's mark; resolves to how many carry
 * another's.
 */
async function expectHeldOnce(world: World, installation: string): Promise<number> {
  let others = 0
  for (const {
    definition,
    identity: { collections },
  } of managed) {
    // A rule may also be a policy's own.
    if (managed.some(({ children }) => children && collections.includes(children.collection))) continue
    const held = (await world.list(definition.kind)).map(({ status }) => status?.id)
    const objects = (await Promise.all(collections.map(({ path }) => world.remote(path)))).flat()
    expect(objects.map(({ id }) => id)).toEqual(expect.arrayContaining(held))
    const spare = objects.filter(({ id }) => !held.includes(id as string))
    const marked = spare.map((object) => markerOf(object as unknown as RemoteObject)?.installation)
    expect(marked).not.toContain(installation)
    others += marked.filter((mark) => mark !== undefined).length
  }
  return others
}

/** Whose create it was: each carries a mark. */
function installationIn(entry: JournalEntry): string | undefined {
  return markIn(entry)?.installation
}

async function orphanCount(world: World): Promise<unknown> {
  await world.resync()
  return (await world.get('Account', 'default'))?.status?.orphanCount
}

test('two installations with separate namespaces, the same manifests and one account never touch each other’s objects', {
  tags: 'nightly',
  timeout,
}, async () => {
  await using blue = await World.open({ leaderElect: true, flags: ['--name', 'blue'] })
  const namespace = `${blue.namespace}-green`
  await using green = await World.open({ leaderElect: true, flags: ['--name', 'green'], beside: blue, namespace })
  const first = await oneOfEach(blue)
  await applyManifests(green, await backUp(blue))
  const ways = await Promise.all(first.map((subject) => settled(green, subject)))
  const second: Subject[] = []
  for (const subject of first) {
    const id = (await green.get(subject.kind, subject.name))?.status?.id
    if (id !== undefined) second.push({ ...subject, id })
  }
  const shared = second.filter(({ id }) => first.some((other) => other.id === id))
  expect(shared).toEqual([])

  // What each has made carries its own mark, and names a resource of its own namespace.
  const ids = { blue: await installationOf(blue, 'blue'), green: await installationOf(green, 'green') }
  const creates = blue.journal().filter(({ method, status }) => method === 'POST' && status === 201)
  const makers = creates.map(installationIn)
  expect(makers.filter((maker) => maker !== ids.blue && maker !== ids.green)).toEqual([])
  const counted = Map.groupBy(
    [...(await marks(blue)), ...creates.map(markIn).filter((mark) => mark !== undefined)],
    (mark) => `${mark.installation} ${mark.namespace}`,
  )
  const expected = [`${ids.blue} ${blue.namespace}`, `${ids.green} ${green.namespace}`]
  expect([...counted.keys()].toSorted()).toEqual(expected.toSorted())

  // At rest both look, and neither writes.
  const atRest = blue.mark()
  for (const world of [blue, green, blue, green]) expect(await orphanCount(world)).toBe(0)
  expect(blue.writes(atRest)).toEqual([])

  // What one has lost is reported by itself alone.
  const lost = { kind: 'Backend', namespace: blue.namespace, name: 'lost', uid: 'gone', nonce: 'gone' }
  await blue.api.create('/backends/tunnel_group', { metadata: formatMarker({ installation: ids.blue, ...lost }) })
  expect([await orphanCount(blue), await orphanCount(green)]).toEqual([1, 0])

  const before = await bodies(blue, first)
  const atDeletion = blue.mark()
  await deleteAll(green, first)
  const deletions = blue.writes(atDeletion)
  const foreign = deletions.filter(({ path }) => first.some(({ id }) => path.includes(id)))
  expect(foreign).toEqual([])
  expect(await bodies(blue, first)).toEqual(before)
  for (const { kind, name } of first) await blue.ready(kind, name)
  expect(await orphanCount(blue)).toBe(1)
  report('two installations side by side', {
    'resources of each': first.length,
    'Ready in the second': ways.filter((way) => way === 'ready').length,
    'refused or waiting, since such a thing can be there once only': ways.filter((way) => way !== 'ready').length,
    'objects with two resources': shared.length,
    'creates by the first, by the second': Object.values(ids)
      .map((id) => makers.filter((maker) => maker === id).length)
      .join(', '),
    'writes at rest': 0,
    'writes of the second while it deleted all of its own': deletions.length,
    'of these to objects of the first': foreign.length,
  })
})

test('two installations that wrongly share a namespace keep one object per resource, and the one that remains comes to rest', {
  tags: 'nightly',
  timeout,
}, async () => {
  await using world = await World.open({ leaderElect: true, flags: ['--name', 'blue'] })
  const green = await world.startOperator(['--name', 'green'])
  const cases = casesTitled('minimal')
  await applyNeeds(world, cases, ['a'])
  const subjects = subjectsOf(cases, 'a')
  await applyAll(world, subjects)
  for (const { kind, name } of subjects) await world.ready(kind, name, 90_000)
  const made = (await marks(world)).length
  const atRest = world.mark()
  await world.resync()
  const [blueId, greenId] = [await installationOf(world, 'blue'), await installationOf(world, 'green')]
  const writes = world.writes(atRest)
  await green.kill()

  // What is left of the two is one that comes to rest. What the other has made twice is not its own to remove.
  await until('a look brings no write', async () => {
    const mark = world.mark()
    await world.resync()
    return world.writes(mark).length === 0
  })
  for (const { kind, name } of subjects) await world.ready(kind, name)
  const left = await expectHeldOnce(world, blueId)
  const creates = world.journal().filter(({ method, status }) => method === 'POST' && status === 201)
  report('two installations that look after one namespace', {
    resources: subjects.length,
    'objects that carry a marker': made,
    'creates by the one, by the other': [blueId, greenId]
      .map((id) => creates.filter((entry) => markIn(entry)?.installation === id).length)
      .join(', '),
    'writes that one look brought, while both ran': writes.length,
    'copies that the one that ended has left behind': left,
    'writes that a look brings, once one has ended': 0,
  })
})

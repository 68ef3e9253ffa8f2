// @module-tag nightly
import { expect, test } from 'vitest'
import { type Resource, typeOf, World } from '../support/world.ts'
import {
  bodies,
  deleteAll,
  expectAtRest,
  listRestored,
  oneOfEach,
  opens,
  readyOf,
  reasonsFor,
  type Subject,
  settled,
} from './lives.ts'

/** What can be there once only, and what goes into the Secret that the original owns. */
const ONCE = new Set(['Conflict', 'OutputNotOwned'])

/** `kubectl get -o yaml | sed NAME | kubectl create`: annotations, finalizers and status come along. */
async function copy(world: World, { kind, name }: Subject): Promise<Subject> {
  const original = (await world.get(kind, name)) as Resource
  const { annotations, labels, finalizers } = original.metadata
  const copied = { kind, name: `${name}-copy` }
  const key = { namespace: world.namespace, name: copied.name }
  const metadata = { name: copied.name, annotations, labels, finalizers }
  await world.kube.create(typeOf(kind), key, { metadata, spec: original.spec, status: original.status })
  return { ...copied, spec: original.spec, id: '', path: '', marked: false, token: false }
}

test('a copied manifest with annotations, finalizers and status takes nothing from the original: each kind', {
  timeout: 300_000,
}, async () => {
  await using world = await World.open()
  const originals = await oneOfEach(world)
  const before = await bodies(world, originals)
  const copies = await Promise.all(originals.map((subject) => copy(world, subject)))
  const held = new Set(originals.map(({ id }) => id))
  const refused = new Set<string>()
  for (const made of copies) {
    const way = await settled(world, made)
    const { status } = (await world.get(made.kind, made.name)) ?? {}
    const about = `${made.kind}/${made.name}`
    expect(held.has(status?.id ?? ''), about).toBe(false)
    if (way === 'ready') expect(status?.id, about).toBeDefined()
    else {
      expect(ONCE, about).toContain((await readyOf(world, made))?.reason)
      refused.add(made.kind)
    }
    const events = await reasonsFor(world, made)
    for (const reason of ['Recovered', 'PossibleDuplicate', 'CopyDeleted']) expect(events, about).not.toContain(reason)
  }
  expect(refused).toEqual(
    new Set([
      'AgentIngress',
      'APIKey',
      'Edge',
      'IPPolicyRule',
      'ReservedDomain',
      'SSHHostCertificate',
      'SSHUserCertificate',
      'TunnelCredential',
    ]),
  )
  expect(await bodies(world, originals)).toEqual(before)

  await deleteAll(world, copies)
  expect(await bodies(world, originals)).toEqual(before)
  for (const subject of originals.filter(({ token }) => token))
    expect(await opens(world, subject, subject.id)).toBe(true)
  await expectAtRest(world, originals)
  await listRestored('copied under another name', copies)
})

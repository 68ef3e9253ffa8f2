import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../src/kube/types.ts'
import { type ObjectEvent, Replica } from '../../../src/runtime/replica.ts'
import { createSilentLogger } from '../../builders/silent-logger.ts'

function object(name: string, resourceVersion: number | string, uid = `${name}-1`): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, namespace: 'shop', uid, resourceVersion: String(resourceVersion) },
  }
}

function setUp() {
  const logger = createSilentLogger()
  const replica = new Replica<KubeObject>(logger)
  const events: string[] = []
  replica.subscribe(({ type, object: { metadata } }) => {
    events.push(`${type} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
  })
  return { replica, events, logger }
}

describe('what may enter the store', () => {
  test('an older resourceVersion never replaces a newer one, beyond the range of doubles too', () => {
    const { replica, events } = setUp()
    replica.put(undefined, object('a', '9007199254740993'))
    replica.put(undefined, object('a', '9007199254740992'))
    replica.put(undefined, object('a', '9007199254740993'))
    expect(events).toEqual(['added a a-1 9007199254740993'])
  })

  test('a resourceVersion that is not a number is taken as newer', () => {
    const { replica, events } = setUp()
    replica.put(undefined, object('a', '5'))
    replica.put(undefined, object('a', 'opaque'))
    replica.put(undefined, object('b', 'another'))
    expect(events).toEqual(['added a a-1 5', 'updated a a-1 opaque', 'added b b-1 another'])
  })

  test('another uid under the same name is a deletion and an addition', () => {
    const { replica, events } = setUp()
    replica.put(undefined, object('a', 5))
    replica.replace(undefined, [object('a', 9, 'a-2')], '10')
    expect(events).toEqual(['added a a-1 5', 'deleted a a-1 5', 'added a a-2 9'])
  })

  test('what a relist no longer holds is deleted', () => {
    const { replica, events } = setUp()
    replica.replace(undefined, [object('a', 1), object('b', 2)], '5')
    replica.replace(undefined, [object('b', 2)], '8')
    expect(events).toEqual(['added a a-1 1', 'added b b-1 2', 'deleted a a-1 1'])
  })

  test('a relist in turns keeps what we write meanwhile, and ends as one without', async () => {
    const { replica, events } = setUp()
    replica.replace(undefined, [object('a', 1), object('b', 2), object('gone', 3)], '5')
    events.length = 0
    const ours = [object('b', 9), object('c', 10)]
    const next = (): Promise<void> | undefined => {
      const [written] = ours.splice(0, 1)
      if (written !== undefined) replica.record(undefined, written)
      return written && Promise.resolve()
    }
    await replica.replaceInTurns(undefined, [object('a', 6), object('b', 7)], '8', { next })
    expect(events).toEqual(['deleted gone gone-1 3', 'updated a a-1 6', 'updated b b-1 9', 'added c c-1 10'])
    expect(replica.seen(undefined)).toBe('8')
  })

  test('a relist of one namespace leaves the others alone', () => {
    const { replica, events } = setUp()
    replica.put('shop', object('a', 1))
    replica.replace('office', [], '5')
    expect(events).toEqual(['added a a-1 1'])
  })

  test('an object of our own write made after the list survives that list', () => {
    const { replica, events } = setUp()
    replica.record(undefined, object('a', 12))
    replica.replace(undefined, [], '10')
    expect(replica.store.size).toBe(1)
    expect(events).toEqual(['added a a-1 12'])
  })

  test('our own write shows at once, and its echo from the watch is no second change', () => {
    const { replica, events } = setUp()
    replica.replace(undefined, [object('a', 1)], '1')
    replica.record(undefined, object('a', 3))
    replica.put(undefined, object('a', 2))
    replica.put(undefined, object('a', 3))
    expect(events).toEqual(['added a a-1 1', 'updated a a-1 3'])
  })

  test('the late response of a write does not bring back what was deleted since', () => {
    const { replica } = setUp()
    replica.replace(undefined, [object('a', 1)], '1')
    replica.remove(undefined, object('a', 5))
    replica.record(undefined, object('a', 3))
    expect(replica.store.size).toBe(0)
  })

  test('a frame from before what was seen does not bring back what was deleted since', () => {
    const { replica, events } = setUp()
    replica.replace(undefined, [object('a', 1)], '1')
    replica.remove(undefined, object('a', 5))
    replica.put(undefined, object('a', 3))
    replica.put(undefined, object('a', 7, 'a-2'))
    expect(events).toEqual(['added a a-1 1', 'deleted a a-1 5', 'added a a-2 7'])
  })

  test('the late deletion of a former namesake leaves its successor alone', () => {
    const { replica, events } = setUp()
    replica.replace(undefined, [object('a', 1)], '1')
    replica.record(undefined, object('a', 7, 'a-2'))
    replica.remove(undefined, object('a', 6))
    expect(replica.store.get({ namespace: 'shop', name: 'a' })?.metadata.uid).toBe('a-2')
    expect(events).toEqual(['added a a-1 1', 'deleted a a-1 1', 'added a a-2 7'])
  })

  test('a restored history replaces what was newer', () => {
    const { replica, events } = setUp()
    replica.replace(undefined, [object('a', 90), object('b', 91)], '100')
    replica.replace(undefined, [object('a', 4)], '10', true)
    expect(events.slice(2)).toEqual(['deleted b b-1 91', 'updated a a-1 4'])
    expect(replica.seen(undefined)).toBe('10')
  })

  test('a complete list is the truth for all that it is not older than, be it a lower resourceVersion', () => {
    const { replica, events } = setUp()
    const rolledBack: (boolean | undefined)[] = []
    replica.replace(undefined, [object('a', 90), object('b', 91)], '100')
    replica.record(undefined, object('c', 1_000_200))
    replica.subscribe((event) => rolledBack.push(event.isRolledBack))
    rolledBack.length = 0
    replica.replace(undefined, [object('a', 4), object('b', 91), object('c', 50)], '1000100')
    expect(events.slice(3)).toEqual(['updated a a-1 4'])
    expect(rolledBack).toEqual([true])
    replica.put(undefined, object('a', 1_000_101))
    expect(rolledBack).toEqual([true, false])
  })

  test('a list after etcd was put back tells of another object, or another state, that counts the same resourceVersion', () => {
    const { replica, events } = setUp()
    replica.replace(undefined, [object('a', 8), object('b', 9), object('c', 9)], '9')
    const edited = { ...object('b', 9), spec: { edited: true } }
    replica.replace(undefined, [object('a', 8, 'a-2'), edited, object('c', 9)], '9')
    expect(events.slice(3)).toEqual(['deleted a a-1 8', 'added a a-2 8', 'updated b b-1 9'])
  })

  test('the newest that was met counts our own writes, which a later list cannot be older than', () => {
    const { replica } = setUp()
    replica.replace(undefined, [object('a', 1)], '5')
    replica.record(undefined, object('a', 9))
    expect([replica.seen(undefined), replica.newest(undefined)]).toEqual(['5', '9'])
    replica.replace(undefined, [object('a', 1)], '3', true)
    expect([replica.seen(undefined), replica.newest(undefined)]).toEqual(['3', '3'])
  })

  test('is the same in the end whatever of the history arrives twice, late or through our own writes', () => {
    const names = ['a', 'b', 'c']
    const change = fc.record({ name: fc.constantFrom(...names), remove: fc.boolean() })
    const extra = fc.record({ after: fc.nat(), replayed: fc.nat() })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), fc.array(extra, { maxLength: 30 }), (changes, extras) => {
        const { replica } = setUp()
        const truth = new Map<string, KubeObject>()
        const writes: KubeObject[] = []
        changes.forEach(({ name, remove }, step) => {
          const resourceVersion = step + 1
          const current = truth.get(name)
          if (remove && current !== undefined) {
            truth.delete(name)
            replica.remove(undefined, object(name, resourceVersion, current.metadata.uid))
          } else {
            const next = object(name, resourceVersion, current?.metadata.uid ?? `${name}-${resourceVersion}`)
            truth.set(name, next)
            writes.push(next)
            replica.put(undefined, next)
          }
          for (const { after, replayed } of extras) {
            const late = writes[replayed % Math.max(1, writes.length)]
            if (after % changes.length !== step || late === undefined) continue
            if (replayed % 2 === 0) replica.record(undefined, late)
            else replica.put(undefined, late)
          }
        })
        const versions = (objects: Iterable<KubeObject>) =>
          [...objects].map((each) => Number(each.metadata.resourceVersion)).sort((a, b) => a - b)
        expect(versions(replica.store.list())).toEqual(versions(truth.values()))
      }),
    )
  })
})

describe('indexes and handlers', () => {
  test('an index follows additions, changes and deletions', () => {
    const { replica } = setUp()
    const labelled = (name: string, version: number, team: string): KubeObject => {
      const { metadata, ...rest } = object(name, version)
      return { ...rest, metadata: { ...metadata, labels: { team } } }
    }
    replica.put(undefined, labelled('a', 1, 'red'))
    replica.addIndex('team', ({ metadata }) => Object.values(metadata.labels ?? {}))
    replica.put(undefined, labelled('b', 2, 'red'))
    expect(replica.store.byIndex('team', 'red').map((each) => each.metadata.name)).toEqual(['a', 'b'])
    replica.put(undefined, labelled('a', 3, 'blue'))
    replica.remove(undefined, labelled('b', 4, 'red'))
    expect(replica.store.byIndex('team', 'red')).toEqual([])
    expect(replica.store.byIndex('team', 'blue')).toHaveLength(1)
    expect(() => replica.store.byIndex('colour', 'red')).toThrow(RangeError)
  })

  test('an object that its index cannot read is stored and logged', () => {
    const { replica, logger } = setUp()
    replica.addIndex('broken', () => {
      throw new Error('unreadable')
    })
    replica.put(undefined, object('a', 1))
    expect(replica.store.size).toBe(1)
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { index: 'broken', key: 'shop/a' } }])
  })

  test('a handler that throws keeps no other from being told', () => {
    const { replica, logger } = setUp()
    const told: ObjectEvent<KubeObject>[] = []
    replica.subscribe(() => {
      throw new Error('a bug')
    })
    const unsubscribe = replica.subscribe((event) => told.push(event))
    replica.put(undefined, object('a', 1))
    unsubscribe()
    replica.put(undefined, object('a', 2))
    expect(told).toHaveLength(1)
    expect(logger.lines).toMatchObject([{ level: 'error' }, { level: 'error' }])
  })

  test('a late subscriber receives what exists', () => {
    const { replica } = setUp()
    replica.put(undefined, object('a', 1))
    const told: string[] = []
    replica.subscribe(({ type, object: each }) => told.push(`${type} ${each.metadata.name}`))
    expect(told).toEqual(['added a'])
  })
})

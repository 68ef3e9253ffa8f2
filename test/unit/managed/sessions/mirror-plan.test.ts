import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RemoteObject } from '../../../../src/api/types.ts'
import { tunnelSession } from '../../../../src/kinds/tunnel-session.ts'
import { type MirrorPlan, type MirrorView, planMirror } from '../../../../src/managed/sessions/mirror-plan.ts'
import { type MirroredObject, mirrorName } from '../../../../src/managed/sessions/mirrored.ts'
import { applyMergePatch } from '../../../../src/util/json.ts'
import { mirroredAccount, session } from '../../../builders/sessions.ts'
import { tunnelSessions } from '../../../contract/facts/tunnel-sessions.ts'

const account = mirroredAccount('default')

function view(listed: readonly RemoteObject[], mirrored: readonly MirroredObject[]): MirrorView {
  return { descriptor: tunnelSession, account, namespace: 'shop', listed, mirrored, isTaken: () => false }
}

/** The objects after the writes of a plan, as the apiserver would store them. */
function carriedOut(before: readonly MirroredObject[], plan: MirrorPlan): readonly MirroredObject[] {
  const removed = new Set(plan.remove.map(({ metadata }) => metadata.uid))
  const patches = new Map(
    plan.update.map(({ object, metadata, status }) => [object.metadata.uid, { metadata, status }]),
  )
  const kept = before
    .filter(({ metadata }) => !removed.has(metadata.uid))
    .map((object) => {
      const { metadata = {}, status = {} } = patches.get(object.metadata.uid) ?? {}
      return applyMergePatch(object, { metadata, status }) as MirroredObject
    })
  const made = plan.create.map(({ namespace, name, metadata, status }): MirroredObject => {
    return {
      apiVersion: 'culvert.dev/v1alpha1',
      kind: 'TunnelSession',
      metadata: { ...metadata, namespace, name, uid: `uid-${name}`, resourceVersion: '1' },
      status: JSON.parse(JSON.stringify(status)),
    }
  })
  return [...kept, ...made]
}

const sessions = fc.uniqueArray(
  fc.record({
    id: fc.stringMatching(/^ts_[a-z0-9]{1,8}$/),
    os: fc.constantFrom('linux', 'windows server', null),
    region: fc.constantFrom('us', 'eu'),
    metadata: fc.constantFrom('', 'machine 1', null),
  }),
  { selector: ({ id }) => id, maxLength: 12 },
)

/** Changes of an object by hand. */
const edits = fc.record({
  label: fc.option(fc.constantFrom('culvert.dev/os', 'culvert.dev/region', 'mine')),
  disown: fc.boolean(),
  blank: fc.boolean(),
})

test('whatever was listed and edited before, one plan shows what is listed now, and the next is empty', () => {
  fc.assert(
    fc.property(sessions, sessions, fc.array(edits, { maxLength: 12 }), (first, second, byHand) => {
      const listed = second.map((fields) => session(fields.id, fields))
      const made = carriedOut(
        [],
        planMirror(
          view(
            first.map((fields) => session(fields.id, fields)),
            [],
          ),
        ),
      )
      const edited = made.map((object, index) => editedBy(object, byHand[index]))
      const plan = planMirror(view(listed, edited))
      const after = carriedOut(edited, plan)
      expect(after.map(({ status }) => status?.id).sort()).toEqual(second.map(({ id }) => id).sort())
      expect(planMirror(view(listed, after))).toEqual({ create: [], update: [], remove: [] })
    }),
  )
})

function editedBy(object: MirroredObject, edit: (typeof edits extends fc.Arbitrary<infer T> ? T : never) | undefined) {
  const { label, disown, blank } = edit ?? {}
  return applyMergePatch(object, {
    metadata: {
      ...(label ? { labels: { [label]: 'by-hand' } } : {}),
      ...(disown ? { ownerReferences: null } : {}),
    },
    ...(blank ? { status: { ip: 'nowhere', agentVersion: null } } : {}),
  }) as MirroredObject
}

test('a session that stays costs nothing, a new one a create, a gone one a removal', () => {
  const before = carriedOut([], planMirror(view([session('ts_1'), session('ts_2')], [])))
  const plan = planMirror(view([session('ts_2'), session('ts_3')], before))
  expect(plan.create.map(({ status }) => status.id)).toEqual(['ts_3'])
  expect(plan.update).toEqual([])
  expect(plan.remove.map(({ metadata }) => metadata.name)).toEqual([mirrorName('ts-', 'ts_1')])
})

test('a changed session is one write, of what changed alone', () => {
  const before = carriedOut([], planMirror(view([session('ts_1')], [])))
  const { update } = planMirror(view([session('ts_1', { agent_version: '4.0.0' })], before))
  expect(update).toMatchObject([{ metadata: undefined, status: { agentVersion: '4.0.0' } }])
  expect(Object.keys(update[0]?.status ?? {})).toEqual(['agentVersion'])
})

test('every field of the contract is in the status', () => {
  const status = tunnelSession.status(session('ts_1'))
  const names = tunnelSessions.fields.map(({ name }) =>
    name.replaceAll(/_(.)/g, (_, next: string) => next.toUpperCase()),
  )
  expect(new Set(Object.keys(status))).toEqual(new Set(names))
  expect(Object.values(status)).not.toContain(undefined)
})

test('a session shows as the API has it', () => {
  const [made] = planMirror(view([session('ts_1')], [])).create
  expect(made?.status).toEqual({
    accountRef: { kind: 'Account', name: 'default' },
    id: 'ts_1',
    uri: 'https://api.example.com/tunnel_sessions/ts_1',
    agentVersion: '3.9.0',
    credential: { id: 'cr_1', uri: 'https://api.example.com/credentials/cr_1' },
    ip: '198.51.100.7',
    metadata: 'machine 1',
    os: 'linux',
    region: 'eu',
    startedAt: '2026-01-01T00:00:00Z',
    transport: 'svc/v2',
  })
  expect(made?.metadata.labels).toEqual({
    'culvert.dev/os': 'linux',
    'culvert.dev/region': 'eu',
    'culvert.dev/transport': 'svc-v2',
    'culvert.dev/credential': 'cr_1',
  })
})

test('labels and owners that others added stay', () => {
  const [made] = carriedOut([], planMirror(view([session('ts_1')], [])))
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'uid-a' }
  const touched = applyMergePatch(made, {
    metadata: { labels: { team: 'edge', 'culvert.dev/os': null }, ownerReferences: [theirs] },
  }) as MirroredObject
  const [update] = planMirror(view([session('ts_1')], [touched])).update
  expect(update?.metadata).toEqual({
    labels: { 'culvert.dev/os': 'linux' },
    ownerReferences: [theirs, { apiVersion: account.apiVersion, kind: 'Account', name: 'default', uid: 'uid-default' }],
  })
})

test('what another account shows is left to it', () => {
  const plan = planMirror({ ...view([session('ts_1')], []), isTaken: (name) => name === mirrorName('ts-', 'ts_1') })
  expect(plan).toEqual({ create: [], update: [], remove: [] })
})

test('with another namespace everything moves', () => {
  const before = carriedOut([], planMirror(view([session('ts_1')], [])))
  const plan = planMirror({ ...view([session('ts_1')], before), namespace: 'elsewhere' })
  expect(plan.create.map(({ namespace }) => namespace)).toEqual(['elsewhere'])
  expect(plan.remove).toEqual(before)
})

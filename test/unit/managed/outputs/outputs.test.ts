import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OwnerReference } from '../../../../src/kube/types.ts'
import { Fingerprints } from '../../../../src/managed/inputs/fingerprints.ts'
import { configMapType } from '../../../../src/managed/inputs/inputs.ts'
import { heldToken, isLive, tokenFingerprint, tokenPatch } from '../../../../src/managed/outputs/held-token.ts'
import { isClaimed, LABELS, noteOf, ownershipOf, withOwner } from '../../../../src/managed/outputs/ownership.ts'
import type { DataObject } from '../../../../src/managed/outputs/place.ts'
import { countedRepeat, pauseBeforeNext, type Repeats } from '../../../../src/managed/reconcile/damping.ts'
import { equalJSON } from '../../../../src/util/equal-json.ts'
import { applyMergePatch } from '../../../../src/util/merge-patch.ts'
import { cr } from '../../../builders/custom-resource.ts'
import { ModelWorld } from '../../../builders/model-world.ts'
import { authorityLine } from '../../../builders/ssh-lines.ts'

function secret(
  metadata: Partial<DataObject['metadata']> = {},
  data: Readonly<Record<string, string>> = {},
): DataObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'shop', uid: 'secret', resourceVersion: '1', ...metadata },
    data,
  }
}

const owner = (fields: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'culvert.dev/v1alpha1',
  kind: 'Backend',
  name: 'web',
  uid: 'mine',
  controller: true,
  ...fields,
})

test('a Secret holds no token under what every object inherits', () => {
  for (const key of ['constructor', 'toString', '__proto__']) {
    expect(heldToken(secret(), key).token).toBeUndefined()
    expect(heldToken(secret({}, { [key]: Buffer.from('told').toString('base64') }), key).token).toBe('told')
  }
})

describe('an object that outputs should go into', () => {
  test.each([
    ['is absent', undefined, { type: 'absent' }],
    ['is the owner’s', secret({ ownerReferences: [owner()] }), { type: 'own' }],
    ['was a former life’s', secret({ ownerReferences: [owner({ uid: 'former' })] }), { type: 'namesake' }],
    [
      'was let go of',
      secret({ annotations: { 'internal.culvert.dev/output-of': 'Backend/web' } }),
      { type: 'namesake' },
    ],
    [
      'was let go of by another',
      secret({ annotations: { 'internal.culvert.dev/output-of': 'Backend/other' } }),
      { type: 'foreign', owner: 'somebody else' },
    ],
    ['is a person’s', secret(), { type: 'foreign', owner: 'somebody else' }],
    [
      'is another resource’s',
      secret({ ownerReferences: [owner({ name: 'other', uid: 'x' })] }),
      { type: 'foreign', owner: 'Backend/other' },
    ],
    [
      'is of a namesake of another kind',
      secret({ ownerReferences: [owner({ kind: 'Edge', uid: 'x' })] }),
      { type: 'foreign', owner: 'Edge/web' },
    ],
    [
      'is of a namesake of another group',
      secret({ ownerReferences: [owner({ apiVersion: 'apps/v1', uid: 'x' })] }),
      { type: 'foreign', owner: 'Backend/web' },
    ],
    [
      'is another’s although we left a note',
      secret({
        annotations: { 'internal.culvert.dev/output-of': 'Backend/web' },
        ownerReferences: [owner({ name: 'other', uid: 'x' })],
      }),
      { type: 'foreign', owner: 'Backend/other' },
    ],
  ])('%s', (_what, object, ownership) => {
    expect(ownershipOf(object, cr())).toEqual(ownership)
  })

  test('is claimed by one controller, a former life’s reference going and a person’s staying', () => {
    const person = owner({ apiVersion: 'v1', kind: 'ConfigMap', name: 'p', uid: 'p', controller: false })
    const found = secret({ ownerReferences: [owner({ uid: 'former' }), person] })
    const metadata = {
      labels: LABELS,
      annotations: { 'internal.culvert.dev/output-of': noteOf(cr()) },
      ownerReferences: withOwner(found, cr()),
    }
    expect(metadata.ownerReferences).toEqual([person, owner()])
    expect(isClaimed(secret(metadata), cr())).toBe(true)
    expect(isClaimed(secret({ ...metadata, labels: {} }), cr())).toBe(false)
  })
})

describe('a token in a Secret', () => {
  const keys = fc.constantFrom('token', 'key', 'other')
  const texts = fc.string({ minLength: 1 })

  const fingerprints = new Fingerprints(Buffer.alloc(32, 1))
  const former = new Fingerprints(Buffer.alloc(32, 2))

  test('is live as it was written, and never once it was altered, by the status, or by the Secret where that says nothing', () => {
    const notes = fc.constantFrom(fingerprints, former, undefined)
    fc.assert(
      fc.property(keys, keys, texts, texts, notes, (key, formerKey, token, other, by) => {
        const before = secret(
          { annotations: { 'internal.culvert.dev/output-keys': formerKey } },
          { [formerKey]: btoa('former'), mine: 'x' },
        )
        const issued = { id: 'ak_1', nonce: 'n', token }
        const after = applyMergePatch(before, tokenPatch(before, {}, key, issued)) as unknown as DataObject
        expect(new Set(Object.keys(after.data ?? {}))).toEqual(new Set(['mine', key]))
        const output = { kind: 'Secret' as const, name: 's', keys: [key] }
        const noted = by && { output, internal: { tokenDigest: tokenFingerprint(by, token, 'ak_1') } }
        const status = { id: 'ak_1', ...noted }
        expect(isLive(heldToken(after, key), status, fingerprints)).toBe(true)
        const altered = { ...after, data: { ...after.data, [key]: Buffer.from(other).toString('base64') } }
        expect(isLive(heldToken(altered, key), status, fingerprints)).toBe(other === token)
        expect(isLive(heldToken(after, key), { ...status, id: 'ak_2' }, fingerprints)).toBe(false)
      }),
    )
  })

  test('is none when it is empty', () => {
    expect(heldToken(secret({}, { token: '' }), 'token').token).toBeUndefined()
  })
})

test('tokens are issued anew at once, then ever more slowly while something goes on taking them, and at once again after a calm', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 20_000_000 }), { minLength: 1, maxLength: 60 }), (gaps) => {
      let now = 0
      let before: Repeats | undefined
      const at: number[] = []
      for (const gap of gaps) {
        now += gap
        if (pauseBeforeNext(before, now) > 0) continue
        before = countedRepeat(before, now)
        at.push(now)
      }
      expect(at[0]).toBe(gaps[0])
      // In any six hours no more than pauses doubling from one minute to an hour allow, twice because of a quiet period
      // between.
      for (const [index, time] of at.entries()) {
        const soon = at.slice(index).filter((other) => other - time <= 21_600_000)
        expect(soon.length).toBeLessThanOrEqual(16)
      }
    }),
  )
  expect(pauseBeforeNext(undefined, 5)).toBe(0)
  expect(pauseBeforeNext(countedRepeat(undefined, 0), 0)).toBe(60_000)
  expect(pauseBeforeNext(countedRepeat(countedRepeat(undefined, 0), 60_000), 60_000)).toBe(120_000)
})

describe('derived outputs', () => {
  const place = { namespace: 'shop', name: 'public' }
  const read = (world: ModelWorld) => world.kube.get<DataObject>(configMapType, place)
  const isReady = (world: ModelWorld): boolean => {
    const found = world.get('SSHCertificateAuthority', 'signer')
    const conditions = found?.status?.conditions ?? []
    return (
      conditions.length === 2 &&
      conditions.every(({ status, observedGeneration }) => {
        return status === 'True' && observedGeneration === found?.metadata.generation
      })
    )
  }

  async function signer(): Promise<ModelWorld> {
    const world = ModelWorld.start()
    world.account.shownBeside.set('ssh_certificate_authorities', { public_key: authorityLine })
    world.apply('SSHCertificateAuthority', 'signer', { output: { configMap: { name: 'public' } } })
    await world.until('Ready', () => isReady(world))
    return world
  }

  test('are written once, put right when altered or deleted, and cost nothing at rest', async () => {
    const world = await signer()
    const first = read(world)
    expect(first?.data?.['ca.pub']).toBe(`${authorityLine}\n`)
    expect(first?.metadata.ownerReferences?.[0]).toMatchObject({ name: 'signer', controller: true })
    world.kube.mergePatch(configMapType, place, { data: { 'ca.pub': 'altered', mine: 'kept' } })
    await world.until('put right', () => read(world)?.data?.['ca.pub'] === first?.data?.['ca.pub'])
    expect(read(world)?.data?.mine).toBe('kept')
    world.kube.delete(configMapType, place)
    await world.until('made again', () => read(world)?.data?.['ca.pub'] === first?.data?.['ca.pub'])
    await world.clock.advance(1000)
    const { length } = world.writes
    await world.clock.advance(180_000)
    expect(world.writes.slice(length)).toEqual([])
  })

  test('are taken away when the spec asks for them no more, but for what others put there', async () => {
    const world = await signer()
    world.kube.mergePatch(configMapType, place, { data: { mine: 'kept' } })
    world.apply('SSHCertificateAuthority', 'signer', { output: { configMap: { name: 'elsewhere' } } })
    await world.until(
      'moved',
      () => world.get('SSHCertificateAuthority', 'signer')?.status?.output?.name === 'elsewhere',
    )
    expect(read(world)?.data).toEqual({ mine: 'kept' })
    world.apply('SSHCertificateAuthority', 'signer', {})
    await world.until('gone', () => {
      return world.kube.get(configMapType, { ...place, name: 'elsewhere' }) === undefined && isReady(world)
    })
    expect(world.get('SSHCertificateAuthority', 'signer')?.status?.output).toBeUndefined()
  })

  test('bear the labels and annotations of the spec, one write for each change and none of what others set', async () => {
    const world = await signer()
    const apply = (labels: Readonly<Record<string, string>>, annotations: Readonly<Record<string, string>> = {}) =>
      world.apply('SSHCertificateAuthority', 'signer', {
        output: { configMap: { name: 'public', labels, annotations } },
      })
    const bears = (labels: Readonly<Record<string, string>>) => () => {
      const { 'app.kubernetes.io/managed-by': _, ...others } = read(world)?.metadata.labels ?? {}
      return equalJSON(others, labels) && isReady(world)
    }
    apply({ team: 'edge' }, { 'example.com/sync': 'true' })
    await world.until('labelled', bears({ team: 'edge' }))
    expect(read(world)?.metadata.annotations?.['example.com/sync']).toBe('true')
    world.kube.mergePatch(configMapType, place, { metadata: { labels: { theirs: 'x', team: 'altered' } } })
    await world.until('put right', bears({ team: 'edge', theirs: 'x' }))
    apply({ tier: 'public' })
    await world.until('changed', bears({ theirs: 'x', tier: 'public' }))
    expect(read(world)?.metadata.annotations).not.toHaveProperty('example.com/sync')
    await world.clock.advance(1000)
    const { length } = world.writes
    await world.clock.advance(180_000)
    expect(world.writes.slice(length)).toEqual([])
    apply({})
    await world.until('bare', bears({ theirs: 'x' }))
    await world.clock.advance(1000)
    expect(world.writes.slice(length).filter((write) => write.includes('configmaps'))).toHaveLength(1)
    expect(read(world)?.metadata.annotations).not.toHaveProperty('internal.culvert.dev/output-labels')
  })

  test('never go into what belongs to somebody else', async () => {
    const world = ModelWorld.start()
    world.account.shownBeside.set('ssh_certificate_authorities', { public_key: authorityLine })
    world.kube.create(configMapType, place, { data: { 'ca.pub': 'of another' } })
    world.apply('SSHCertificateAuthority', 'signer', { output: { configMap: { name: 'public' } } })
    await world.until('refused', () => {
      const conditions = world.get('SSHCertificateAuthority', 'signer')?.status?.conditions ?? []
      return conditions.some(({ reason }) => reason === 'OutputNotOwned')
    })
    expect(read(world)?.data).toEqual({ 'ca.pub': 'of another' })
  })
})

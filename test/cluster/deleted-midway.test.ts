import { beforeAll, expect, test } from 'vitest'
import { caPem, partnerCaPem } from '../builders/contract/ca-pem.ts'
import { sshKeys } from '../builders/contract/ssh-keys.ts'
import { type Aim, aimsOf, bring, isAtApi, type Journey, notShown, type Story, wavesOf } from './support/journeys.ts'
import { expectNothingLeft } from './support/nothing-left.ts'
import { Stage } from './support/stage.ts'

const rotate = { annotations: { 'culvert.dev/rotate-requested-at': 'now' } }
const rotation = { interval: '720h', overlap: '0s' }
const certificate = {
  sshCertificateAuthorityRef: { name: 'team' },
  publicKey: sshKeys.ed25519,
  principals: ['alice'],
  validFor: '40s',
}

const STORIES: readonly Story[] = [
  { name: 'key', kind: 'APIKey', spec: { rotation }, change: rotate },
  { name: 'agent', kind: 'TunnelCredential', spec: { rotation, rawMetadata: 'mine' }, change: rotate },
  {
    name: 'edge',
    kind: 'Edge',
    spec: {
      protocol: 'TLS',
      rawMetadata: 'mine',
      mutualTLS: { certificateAuthorityRefs: [{ name: 'staff' }] },
      ipRestriction: { ipPolicyRefs: [{ name: 'office' }] },
    },
  },
  {
    name: 'policy',
    kind: 'IPPolicy',
    spec: {
      rules: [
        { cidr: '10.0.0.0/8', action: 'Allow' },
        { cidr: '192.0.2.0/24', action: 'Deny' },
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
    // It is renewed at once, and then every four seconds.
    change: {
      spec: { ...certificate, renewBefore: '36s' },
      isRipe: ({ status }) => Date.now() > Date.parse(String(status?.validAfter)) + 4_000,
    },
  },
]

/** What stays, for others to refer to. */
const NEEDS: readonly { readonly kind: string; readonly name: string; readonly spec: Record<string, unknown> }[] = [
  { kind: 'CertificateAuthority', name: 'staff', spec: { caPEM: caPem } },
  { kind: 'IPPolicy', name: 'office', spec: { rules: [{ cidr: '198.51.100.0/24', action: 'Allow' }] } },
  { kind: 'SSHCertificateAuthority', name: 'team', spec: {} },
]

/** What the operator asks on the ways of the stories. */
let aims: readonly Aim[] = []

/** @param timeout how long the operator waits for an answer. */
async function open(timeout: string): Promise<Stage> {
  const stage = await Stage.open({ resources: 40, flags: ['--request-timeout', timeout] })
  try {
    await stage.startOperator()
    for (const { kind, name, spec } of NEEDS) await stage.world.apply(kind, name, spec)
    for (const { kind, name } of NEEDS) await stage.world.ready(kind, name)
  } catch (error) {
    await stage[Symbol.asyncDispose]()
    throw error
  }
  return stage
}

beforeAll(async () => {
  await using stage = await open('20s')
  aims = await aimsOf(stage, STORIES)
  for (const story of STORIES) {
    const answered = aims.filter((aim) => aim.story === story && aim.stop.when === 'after')
    const during = (which: Aim['phase']): number => answered.filter((aim) => aim.phase === which).length
    // The attempt, the create and its result; for those that are replaced these again, and the end of the former one.
    expect(during('create'), story.name).toBeGreaterThanOrEqual(3)
    expect(during('change'), story.name).toBeGreaterThanOrEqual(story.change === undefined ? 0 : 5)
  }
})

test('a resource deleted while the operator is down, killed at any step, leaves nothing behind', {
  timeout: 600_000,
  tags: 'nightly',
}, async () => {
  await using stage = await open('4s')
  const { world, stops } = stage
  // What exists before a write, exists after the one before.
  const answered = aims.filter(({ stop }) => stop.when === 'after')
  const shown: Journey[] = []
  for (const [index, wave] of wavesOf(answered).entries()) {
    const journeys = await bring(stage, `killed-${index}`, wave)
    await world.operator.kill()
    for (const { aim, name } of journeys) await world.delete(aim.story.kind, name)
    stops.releaseAll()
    await stage.startOperator()
    shown.push(...journeys)
  }
  expect(notShown(answered, shown)).toEqual([])
  await expectNothingLeft(world, { needs: NEEDS })
})

test('a resource deleted while the operator is at any step leaves nothing behind', {
  tags: 'nightly',
  timeout: 600_000,
}, async () => {
  // Requests are held, none is given up.
  await using stage = await open('60s')
  // An answer of the apiserver that is late tells the operator nothing that it does not know before its next write.
  const held = aims.filter(({ stop }) => stop.when === 'before' || isAtApi(stop))
  expect(notShown(held, await deleteAt(stage, 'alive', held))).toEqual([])
  await expectNothingLeft(stage.world, { needs: NEEDS })
})

test('a resource deleted while the outcome of a request is unknown leaves nothing behind', {
  timeout: 600_000,
  tags: 'nightly',
}, async () => {
  await using stage = await open('3s')
  const lost = aims.filter(({ stop }) => stop.when === 'after' && isAtApi(stop))
  expect(lost.some(({ stop }) => stop.sort.startsWith('API POST'))).toBe(true)
  expect(notShown(lost, await deleteAt(stage, 'lost', lost, true))).toEqual([])
  await expectNothingLeft(stage.world, { needs: NEEDS })
})

/** Deletes a resource at each aim, and lets the operator go on. */
async function deleteAt(stage: Stage, how: string, aims: readonly Aim[], stuck?: boolean): Promise<readonly Journey[]> {
  const all: Journey[] = []
  for (const [index, wave] of wavesOf(aims).entries()) {
    const journeys = await bring(stage, `${how}-${index}`, wave, stuck)
    for (const { aim, name } of journeys) {
      await stage.world.delete(aim.story.kind, name)
      stage.stops.release(name)
    }
    all.push(...journeys)
  }
  return all
}

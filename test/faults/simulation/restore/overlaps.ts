import type { RemoteObject } from '../../../../src/api/types.ts'
import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import { markerOf } from '../../../../src/managed/markers/marker.ts'
import { ROTATE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import { caPem, partnerCaPem } from '../../../builders/contract/ca-pem.ts'
import { Oracle } from '../oracle.ts'
import type { Laboratory, SimulatedWorld } from '../world.ts'
import { applyAgain } from './manifests.ts'
import type { Trial } from './trial.ts'

type Fields = Readonly<Record<string, unknown>>

const NAME = 'subject'
/** Long after every effect of an old manifest. */
const SETTLED_MS = 120_000
const OVERLAP_MS = 3_600_000
/** Longer than the pause between two checks of a former object's dependents. */
const USERS_MS = 60_000

/** A kind whose former object stays for a while next to its replacement. */
interface Overlapping {
  readonly kind: string
  readonly spec: Fields
  /** Replaces the object. @returns a function that ends the overlap */
  readonly replace: (world: SimulatedWorld, former: string) => Promise<() => Promise<void>>
}

const token = (kind: string): Overlapping => ({
  kind,
  spec: { rotation: { interval: '720h', overlap: '1h' }, ...(kind === 'APIKey' ? { description: 'shop' } : {}) },
  replace: async (world) => {
    world.annotate(kind, NAME, { [ROTATE_REQUESTED_AT]: 'now' })
    return () => world.advance(OVERLAP_MS)
  },
})

const authority: Overlapping = {
  kind: 'CertificateAuthority',
  spec: { caPEM: caPem },
  replace: async (world, former) => {
    const edge = await world.api.ask('POST', '/edges/tls', {
      mutual_tls: { enabled: true, certificate_authority_ids: [former] },
    })
    world.apply('CertificateAuthority', NAME, { caPEM: partnerCaPem })
    return async () => {
      await world.api.ask('DELETE', `/edges/tls/${edge.id}`)
      await world.advance(USERS_MS)
    }
  },
}

const MOMENTS_MS = [1, 1_000, 1_800_000] as const

/**
 * While a former object stays, the manifest from before its replacement comes back: neither of the two is deleted, and
 * no third is created.
 */
export const overlaps: readonly Trial[] = [token('APIKey'), token('TunnelCredential'), authority].flatMap((subject) => {
  return MOMENTS_MS.flatMap((after) => {
    return [false, true].map((isDown): Trial => {
      const point = `${after} ms after it was replaced${isDown ? ', no operator at work' : ''}`
      const what = { write: subject.kind, point, fault: 'annotations of before applied during the overlap' }
      return { what, run: (laboratory) => played(laboratory, subject, { after, isDown }) }
    })
  })
})

async function played(
  laboratory: Laboratory,
  { kind, spec, replace }: Overlapping,
  { after, isDown }: { readonly after: number; readonly isDown: boolean },
): Promise<readonly string[]> {
  const world = laboratory.world({ kinds: new Set([kind]) })
  try {
    const oracle = await Oracle.watch(world)
    world.apply(kind, NAME, spec)
    const unrest = await oracle.untilRest()
    if (unrest.length > 0) return unrest
    await world.advance(1_000)
    const copy = world.get(kind, NAME) as CustomResource
    const former = statusOf(copy).id ?? ''
    const end = await replace(world, former)
    const isReplaced = await world.until(() => statusOf(world.get(kind, NAME) as CustomResource).id !== former, 60_000)
    if (!isReplaced) return [`${former} was not replaced`]
    await world.advance(after)
    if (isDown) world.down()
    const present = world.get(kind, NAME) as CustomResource
    applyAgain(world, { ...copy, spec: present.spec }, false)
    world.up()
    await world.advance(SETTLED_MS)
    const problems = [...oracle.violations, ...(await strayed(world, [former, statusOf(present).id ?? '']))]
    await end()
    oracle.allow({})
    return [...problems, ...(await oracle.judge()), ...(await strayed(world, [statusOf(present).id ?? '']))]
  } finally {
    world.down()
  }
}

/** How the marked objects of the resource differ from these. */
async function strayed(world: SimulatedWorld, wanted: readonly string[]): Promise<readonly string[]> {
  const cr = world.all()[0] as CustomResource
  const { path, listKey } = world.kinds.managedKind(cr.kind)?.identity.collectionOf(cr.spec) ?? {
    path: '',
    listKey: '',
  }
  const { [listKey]: objects } = await world.api.ask('GET', `/${path}?limit=100`)
  const found = (objects as readonly RemoteObject[]).filter((object) => markerOf(object)?.uid === cr.metadata.uid)
  const ids = found.map(({ id }) => id).toSorted()
  const isSame = JSON.stringify(ids) === JSON.stringify(wanted.toSorted())
  return isSame ? [] : [`${cr.kind} has ${ids.join(', ')} instead of ${wanted.join(', ')}`]
}

import { CREATE_NONCE, OUTPUT_OF, REMOTE_ID, RESERVED_FOR } from '../names.ts'
import type { Reconciliation } from '../reconciliation.ts'
import type { OutputTarget } from '../types/descriptor.ts'
import { naming, patchTarget, wasOvertaken } from './claim.ts'
import { type DataObject, keyOfTarget, outputTarget, readTarget, typeOfTarget } from './place.ts'
import { tenureOf, withoutOwner } from './tenure.ts'

const TRIES = 5

/**
 * Takes our `keys` out of an object that the spec does not name any more. What is empty then goes; with keys of others in it, it
 * stays and is theirs.
 */
export async function vacate(run: Reconciliation, place: OutputTarget, keys: readonly string[]): Promise<void> {
  await withOwned(run, place, async (found) => {
    const { context, cr } = run
    const others = Object.keys(found.data ?? {}).filter((key) => !keys.includes(key))
    if (others.length > 0) {
      await patchTarget(run, place, found, {
        metadata: {
          ownerReferences: withoutOwner(found, cr),
          annotations: { [REMOTE_ID]: null, [CREATE_NONCE]: null, [RESERVED_FOR]: null, [OUTPUT_OF]: null },
          labels: { 'app.kubernetes.io/managed-by': null },
        },
        data: Object.fromEntries(keys.map((key) => [key, null])),
      })
      return
    }
    const { uid, resourceVersion } = found.metadata
    await context.kube.delete(typeOfTarget(place), keyOfTarget(cr, place), { uid, resourceVersion })
  })
}

/** Lets go of what outputs were put into: without its owner the garbage collector leaves it alone. */
export async function release(run: Reconciliation): Promise<void> {
  const target = outputTarget(run.descriptor, run.cr)
  const { output } = run.status
  const places = [target, output].filter((place) => place !== undefined)
  for (const place of places) {
    await withOwned(run, place, async (found) => {
      await patchTarget(run, place, found, { metadata: { ownerReferences: withoutOwner(found, run.cr) } })
    })
  }
}

/** Acts on the object while it is there and ours; anew when somebody changed it meanwhile. */
async function withOwned(
  run: Reconciliation,
  place: OutputTarget,
  act: (found: DataObject) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await naming(place, () => readTarget(run.context.kube, run.cr, place))
    if (found === undefined || tenureOf(found, run.cr).type !== 'own') return
    try {
      await naming(place, () => act(found))
      return
    } catch (error) {
      if (!wasOvertaken(error) || tries === TRIES) throw error
    }
  }
}

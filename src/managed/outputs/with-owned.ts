import { KubeError } from '../../kube/kube-error.ts'
import { ownershipOf } from '../ownership.ts'
import { type DataObject, type Holder, keyOfTarget, type Place, readTarget, typeOfTarget } from './place.ts'
import { naming, wasOvertaken } from './take-ownership.ts'

const TRIES = 5

/** Calls `act` if the object exists and is ours, and again if somebody changed it meanwhile. */
export async function withOwned(
  holder: Holder,
  place: Place,
  act: (found: DataObject) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await naming(place, () => readTarget(holder.context.kube, holder.cr, place))
    if (found === undefined || ownershipOf(found, holder.cr).type !== 'own') return
    try {
      await naming(place, () => act(found))
      return
    } catch (error) {
      if (!wasOvertaken(error) || tries === TRIES) throw error
    }
  }
}

/**
 * Deletes the object in the version that was found.
 * @throws KubeError `NotFound` for a 404, which a proxy may have answered: `withOwned` then checks whether the object
 *   is gone.
 */
export async function deleteFound({ context, cr }: Holder, place: Place, found: DataObject): Promise<void> {
  const { uid, resourceVersion } = found.metadata
  const isDeleted = await context.kube.delete(typeOfTarget(place), keyOfTarget(cr, place), { uid, resourceVersion })
  if (!isDeleted) throw new KubeError('NotFound', `DELETE ${place.kind}/${place.name}: not found`, { status: 404 })
}

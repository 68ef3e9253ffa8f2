import { naming, wasOvertaken } from './claim.ts'
import { type DataObject, type Holder, type Place, readTarget } from './place.ts'
import { tenureOf } from './tenure.ts'

const TRIES = 5

/** Acts on the object while it is there and ours; anew when somebody changed it meanwhile. */
export async function withOwned(
  holder: Holder,
  place: Place,
  act: (found: DataObject) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await naming(place, () => readTarget(holder.context.kube, holder.cr, place))
    if (found === undefined || tenureOf(found, holder.cr).type !== 'own') return
    try {
      await naming(place, () => act(found))
      return
    } catch (error) {
      if (!wasOvertaken(error) || tries === TRIES) throw error
    }
  }
}

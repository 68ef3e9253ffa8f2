import type { ControlPlane } from '../controlplane/control-plane.ts'
import { backends } from './loads.ts'
import { Place } from './place.ts'
import type { Row } from './row.ts'

const RESOURCES = 200
const PER_MINUTE = 120
/** Requests that may come at once after a pause: the default of an Account. */
const BURST = 10
const LOAD = `${RESOURCES} Backends at ${PER_MINUTE} calls a minute`

/** Makes resources under a budget that the API enforces too. The floor is the arithmetic of the two rules. */
export async function run(controlPlane: ControlPlane): Promise<readonly Row[]> {
  const manifests = Array.from({ length: RESOURCES }, (_, group) => backends.manifests(group)).flat()
  await using place = await Place.make(controlPlane, 'budget', manifests, {
    rateLimit: { requests: PER_MINUTE, periodMs: 60_000 },
    account: { rateLimit: { requestsPerMinute: PER_MINUTE } },
  })
  const { operator, elapsed } = await place.start()
  await place.until(operator, async () => {
    return (await operator.metric('culvert_resources', 'ready="True"')) >= manifests.length
  })
  const value = elapsed()
  const calls = await operator.metric('culvert_api_requests_total')
  const refused = await operator.metric('culvert_api_requests_total', 'status="429"')
  await operator.stop()
  return [
    { load: LOAD, figure: 'until all are Ready', value, unit: 's', floor: secondsFor(calls) },
    { load: LOAD, figure: '429', value: refused, unit: '' },
  ]
}

/** A bucket admits a burst and then one call at a time; a window admits no more than a minute's calls in any minute. */
function secondsFor(calls: number): number {
  const bucket = ((calls - BURST) * 60) / PER_MINUTE
  const window = Math.floor((calls - 1) / PER_MINUTE) * 60
  return Math.max(bucket, window)
}

import { type CustomResource, statusOf, unresolvedAttempt } from '../../../../src/managed/cr.ts'
import { ROTATE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import type { Episode, EpisodeWitness } from '../../simulation/episodes.ts'
import type { Side } from './side.ts'
import { type Transcript, transcriptOf } from './transcript.ts'

const nobody: EpisodeWitness = { specChanges: () => undefined, meddled: () => undefined }

/**
 * Plays an episode on a side, and records the calls from its beginning until the account has been resynced afterwards.
 * Then removes everything for the next one.
 * @param number of the turn on this side. @param least how many calls to wait for
 */
export async function transcribe(side: Side, episode: Episode, number: number, least = 0): Promise<Transcript> {
  const { kind, name, needs, before, isUnseen } = episode
  const subject = { kind, name, spec: {} }
  for (const need of needs) {
    await side.apply(need.kind, need.name, need.spec)
    await side.until(`${need.kind}/${need.name} rests`, [need], areAtRest(1))
  }
  if (before !== undefined) {
    await side.apply(kind, name, before)
    await side.until(`${kind}/${name} rests`, [subject], areAtRest(1))
  }
  await side.outliveReadLag()
  await side.look(`before ${number}`)
  await side.callsAtLeast(0)
  const former = await side.get(kind, name)
  side.mark()
  await episode.act(side, nobody)
  if (isUnseen) await side.look(`within ${number}`)
  const isGone = episode.title.endsWith('/ delete')
  await side.until(`${episode.title} is over`, [subject], isGone ? ([cr]) => cr === undefined : isDone(episode, former))
  await side.look(`after ${number}`)
  await side.callsAtLeast(least)
  const transcript = transcriptOf(side)
  for (const each of [subject, ...needs.toReversed()]) {
    if ((await side.get(each.kind, each.name)) !== undefined) await side.delete(each.kind, each.name)
    await side.until(`${each.kind}/${each.name} is gone`, [each], ([cr]) => cr === undefined)
  }
  await side.tidy()
  return transcript
}

function areAtRest(count: number) {
  return (crs: readonly CustomResource[]): boolean => crs.length === count && crs.every(isAtRest)
}

/** An episode that replaces the object is over when the new one exists. */
function isDone({ title }: Episode, former: CustomResource | undefined) {
  const another = /\/ (deleted by somebody|replace|rotate)$/.test(title)
  return ([cr]: readonly CustomResource[]): boolean => {
    if (cr === undefined || !isAtRest(cr)) return false
    return !another || former === undefined || statusOf(cr).id !== statusOf(former).id
  }
}

function isAtRest(cr: CustomResource): boolean {
  const { metadata, status } = cr
  if (metadata.deletionTimestamp !== undefined || status?.observedGeneration !== metadata.generation) return false
  const conditions = status?.conditions ?? []
  const isMet = ['Ready', 'Synced'].every((type) =>
    conditions.some((each) => each.type === type && each.status === 'True'),
  )
  const asked = metadata.annotations?.[ROTATE_REQUESTED_AT]
  const isRotated = asked === undefined || statusOf(cr).lastHandledRotateAt === asked
  return isMet && isRotated && unresolvedAttempt(cr) === undefined && status?.internal?.superseded === undefined
}

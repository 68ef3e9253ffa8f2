import { type CustomResource, statusOf } from '../../../../src/managed/cr.ts'
import { ROTATE_REQUESTED_AT } from '../../../../src/managed/names.ts'
import type { SpecCase } from '../../../kinds/lookup.ts'
import type { Trouble } from '../faults.ts'
import type { Laboratory } from '../world.ts'
import {
  type Backup,
  backUp,
  hasToken,
  isMarked,
  Life,
  nameOf,
  putBack,
  putBackOutput,
  SUBJECT,
  subjects,
  wipe,
} from './life.ts'
import { takeBack } from './taking-back.ts'
import type { Trial } from './trial.ts'

/** How the Secrets and ConfigMaps with outputs are restored. */
const OUTPUTS = ['as they were', 'with owners that are gone', 'missing'] as const
/** How a Secret with a token that was rotated since is restored. */
const ROTATED = ['with a token that is revoked', 'with a token of before, within its overlap'] as const

type How = (typeof OUTPUTS)[number] | (typeof ROTATED)[number]

/** Everything restored without status, with other UIDs. */
export const backups: readonly Trial[] = subjects.flatMap((subject) => {
  const { kind, title } = subject
  const hows: readonly How[] = hasToken(kind) ? [...OUTPUTS, ...ROTATED] : OUTPUTS
  return hows.flatMap((how) =>
    [true, false].map((withAccount): Trial => {
      const account = withAccount ? ', and its Account' : ''
      return {
        what: {
          write: `${kind} ${title}`,
          point: `at rest${account}`,
          fault: `restored without status, outputs ${how}`,
        },
        run: (laboratory) => restored(laboratory, subject, { how, withAccount }),
      }
    }),
  )
})

interface Restore {
  readonly how: How
  readonly withAccount: boolean
  /** Faults of the operator that starts after the restore. Default: none. */
  readonly trouble?: Trouble
  /** Objects on a page of a list then. Default: as many as the API allows. */
  readonly pageSize?: number
}

/** Loses everything in the cluster, restores it without status, and returns what does not have its own object again. */
export async function restored(
  laboratory: Laboratory,
  subject: SpecCase,
  restore: Restore,
): Promise<readonly string[]> {
  const life = await Life.open(laboratory, subject)
  try {
    return await restoredIn(life, restore)
  } finally {
    life.world.down()
  }
}

async function restoredIn(life: Life, { how, withAccount, trouble, pageSize }: Restore): Promise<readonly string[]> {
  const { world, oracle } = life
  const overlap = how === ROTATED[1] ? '24h' : '2s'
  const unrest = await life.begin(hasToken(life.subject.kind) ? { rotation: { interval: '720h', overlap } } : {})
  if (unrest.length > 0) return unrest
  const former = life.ids()
  const { outputs } = backUp(world)
  if (how === ROTATED[0] || how === ROTATED[1]) await rotate(life)
  world.down()
  const backup: Backup = { resources: backUp(world).resources, outputs }
  const before = life.ids()
  const { length } = oracle.writes
  wipe(world)
  if (withAccount) restoreAccount(life)
  if (how !== 'missing') for (const output of outputs) putBackOutput(world, output, how === OUTPUTS[1])
  for (const cr of backup.resources) putBack(world, cr)
  if (trouble !== undefined) world.trouble = trouble
  world.api.pageSize = pageSize
  world.up()

  const subjectName = `${life.subject.kind}/${SUBJECT}`
  const isLost = (cr: CustomResource): boolean => {
    return hasToken(cr.kind) && (how === 'missing' || (how === ROTATED[0] && nameOf(cr) === subjectName))
  }
  const isOverlapping = (cr: CustomResource): boolean => how === ROTATED[1] && nameOf(cr) === subjectName
  const older = [former.get(subjectName)].filter((id) => id !== undefined && how === ROTATED[1]) as readonly string[]
  const problems = await takeBack(world, oracle, {
    left: new Set(older),
    answer: (cr) => (isLost(cr) ? null : isOverlapping(cr) ? former.get(nameOf(cr)) : undefined),
  })
  if (problems.length > 0) return problems
  const wrong = world.all().flatMap((cr) => {
    const known = (isOverlapping(cr) ? former : before).get(nameOf(cr))
    const { id } = statusOf(cr)
    const events = isMarked(cr) ? [isLost(cr) ? 'Reissued' : 'Recovered'] : []
    const untold = events.filter((reason) => !life.wasTold(cr, reason)).map((reason) => `${nameOf(cr)}: no ${reason}`)
    return (id === known) === !isLost(cr) ? untold : [`${nameOf(cr)} has ${id}, and had ${known}`, ...untold]
  })
  const made = oracle.writes.slice(length).filter(({ server, method }) => server === 'api' && method === 'POST').length
  const lost = world.all().filter(isLost).length
  if (made !== lost) wrong.push(`${made} objects were made, ${lost} tokens lost`)
  return [...wrong, ...(trouble?.unspent?.() ?? [])]
}

/** Gives the subject another token; the rotation request is not part of a backup. */
async function rotate(life: Life): Promise<void> {
  const { world, oracle } = life
  const { kind } = life.subject
  const id = world.get(kind, SUBJECT)?.status?.id
  world.annotate(kind, SUBJECT, { [ROTATE_REQUESTED_AT]: 'now' })
  await world.until(() => world.get(kind, SUBJECT)?.status?.id !== id, 60_000)
  await world.advance(1_000)
  world.annotate(kind, SUBJECT, { [ROTATE_REQUESTED_AT]: null })
  await world.until(() => oracle.isAtRest, 10_000)
}

/** Removes the Account and restores it without status. */
function restoreAccount({ world }: Life): void {
  const { account } = world
  if (account === undefined) throw new Error('there is no Account')
  const type = world.kinds.accountType('Account')
  const { namespace, name, annotations, labels, finalizers } = account.metadata
  const key = { ...(namespace === undefined ? {} : { namespace }), name }
  world.kube.mergePatch(type, key, { metadata: { finalizers: null } })
  world.kube.delete(type, key)
  world.server.create(type, key, {
    metadata: { ...(annotations && { annotations }), ...(labels && { labels }), ...(finalizers && { finalizers }) },
    spec: account.spec,
  })
}

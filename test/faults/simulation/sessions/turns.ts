import { mirrorName } from '../../../../src/managed/sessions/mirrored.ts'
import { type Hurt, hurtIn, hurts } from '../adoption/hurts.ts'
import type { Trial } from '../restore/trial.ts'
import { Fleet } from './fleet.ts'

/** Time until a session that came, went or came back is shown, and a command with its waits is over. Milliseconds. */
const OVER_MS = 10 * 60_000
/** Several lists of sessions, during which nothing may be written. */
const QUIET_MS = 60_000

interface Turn {
  readonly title: string
  readonly act: (fleet: Fleet) => void
  /** Whether sessions should no longer be shown. */
  readonly isOff?: boolean
}

const ALL = { type: 'Selector', selector: {} } as const
const ACTIONS = ['Restart', 'Stop', 'Update', 'UpdateAndRestart'] as const

const turns: readonly Turn[] = [
  { title: 'a session comes', act: (fleet) => fleet.connect('machine 4') },
  { title: 'a session goes', act: (fleet) => fleet.disconnect(0) },
  {
    title: 'one goes and one comes',
    act: (fleet) => {
      fleet.disconnect(1)
      fleet.connect('machine 4')
    },
  },
  {
    title: 'edited by hand',
    act: (fleet) => {
      const [first, second, third] = fleet.mirrors
      if (first !== undefined) fleet.edit(first, { metadata: { labels: { 'culvert.dev/os': 'mine' } } })
      if (second !== undefined) fleet.edit(second, { status: { ip: '192.0.2.1' } }, 'status')
      if (third !== undefined) fleet.remove(third)
    },
  },
  {
    title: 'switched off',
    act: (fleet) => fleet.world.editAccount({ mirrorSessions: { enabled: false } }),
    isOff: true,
  },
  ...ACTIONS.flatMap((action): readonly Turn[] => [
    { title: `${action} of all`, act: (fleet) => fleet.command('now', { action, target: ALL }) },
    {
      title: `${action} of one by name, of one by id`,
      act: (fleet) => {
        const [first, second] = fleet.shown.map(({ status }) => String(status?.id))
        fleet.command('by-name', {
          action,
          target: { type: 'Session', sessionRef: { name: mirrorName('ts-', first ?? '') } },
        })
        fleet.command('by-id', { action, target: { type: 'ID', id: second } })
      },
    },
    {
      title: `${action} of all while one goes`,
      act: (fleet) => {
        fleet.command('now', { action, target: ALL })
        fleet.disconnect(2)
      },
    },
  ]),
]

/** Sessions that come and go, and commands to them, in an account of the namespace or a shared one, without faults. */
export const sessionTurns: readonly Trial[] = turns.flatMap((turn) => {
  return [false, true].map((isShared) => trial(turn, isShared))
})

/** The same with a kill or a fault at each write. */
export const hurtSessionTurns: readonly Trial[] = turns.flatMap((turn) => {
  return [false, true].flatMap((isShared) => hurts.map((hurt) => trial(turn, isShared, hurt)))
})

function trial(turn: Turn, isShared: boolean, hurt?: (typeof hurts)[number]): Trial {
  const write = `sessions / ${turn.title}, ${isShared ? 'ClusterAccount' : 'Account'}`
  return {
    what: { write, point: hurt?.point ?? 'at rest', fault: hurt?.title ?? 'none' },
    run: async (laboratory) => {
      const fleet = await Fleet.open(laboratory, isShared)
      try {
        return await played(fleet, turn, hurt)
      } finally {
        fleet.world.down()
      }
    },
  }
}

async function played(fleet: Fleet, turn: Turn, hurt: Hurt | undefined): Promise<readonly string[] | undefined> {
  const { world, oracle } = fleet
  const isHurt = hurtIn(world, hurt)
  turn.act(fleet)
  const isOver = await world.until(() => fleet.commands.every(hasEnded), OVER_MS)
  await world.advance(QUIET_MS)
  if (!isHurt()) return undefined
  const problems = isOver ? [] : ['a command is not over']
  problems.push(...(await oracle.judge(undefined, 0, QUIET_MS)))
  if (turn.isOff === true) problems.push(...fleet.mirrors.map(({ metadata }) => `${metadata.name} is still there`))
  else problems.push(...(await fleet.unlike()))
  return [...problems, ...unlikeCommands(fleet, hurt === undefined)]
}

/** Commands that were sent twice, or whose status differs from what was sent. */
function unlikeCommands({ commands, posted }: Fleet, isCalm: boolean): readonly string[] {
  const twice = posted.filter((post, index) => posted.indexOf(post) !== index)
  const problems = twice.map((post) => `sent twice: ${post}`)
  for (const { metadata, status } of commands) {
    const isDone = status?.targets?.every(({ actions }) => actions.every(({ state }) => state === 'Done'))
    const ends = endsOf(status).join()
    if (ends !== (isDone ? 'Complete' : 'Failed')) problems.push(`${metadata.name} has ended as ${ends || 'nothing'}`)
    for (const { id, actions } of status?.targets ?? []) {
      for (const { action, state } of actions) {
        const wasSent = posted.includes(`${action.toLowerCase()} ${id}`)
        const at = `${metadata.name}: ${action} of ${id} is ${state}`
        if (['Pending', 'Sent'].includes(state)) problems.push(`${at} in the end`)
        if (['Done', 'Refused'].includes(state) && !wasSent) problems.push(`${at}, and was not sent`)
        if (state === 'Skipped' && wasSent) problems.push(`${at}, and was sent`)
        if (isCalm && state === 'Unknown') problems.push(`${at} although nothing failed`)
      }
    }
  }
  return problems
}

function hasEnded({ status }: Fleet['commands'][number]): boolean {
  return endsOf(status).length > 0
}

/** The final states that a command reports. */
function endsOf(status: Fleet['commands'][number]['status']): readonly string[] {
  const met = status?.conditions?.filter(({ status: holds }) => holds === 'True') ?? []
  return met.map(({ type }) => type).filter((type) => type === 'Complete' || type === 'Failed')
}

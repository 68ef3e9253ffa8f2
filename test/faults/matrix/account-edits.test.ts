import { test } from 'vitest'
import { type AccountEdit, accountEdits, madeElsewhere, prepareEdits } from '../simulation/account-edits.ts'
import { type Episode, episodes } from '../simulation/episodes.ts'
import type { Sighting, Trouble } from '../simulation/faults.ts'
import { type Planned, playAll, References } from '../simulation/suite.ts'
import { isWrite, Laboratory, type SimulatedWorld } from '../simulation/world.ts'
import { numbered } from '../simulation/writes.ts'
import { some, spread, turnAmong } from '../support/size.ts'

/**
 * How long the Account stays edited: long enough for the operator to read it, and for a process that died to come back.
 * Milliseconds.
 */
const WRONG_MS = 12_000
/** Number of cases to run, of more than four thousand: others in each run of the whole matrix. */
const MOST = 700
const POINTS = ['as it is sent', 'as it is sent, and the operator dies'] as const

test('the Account is edited at every write of every life cycle step, and corrected again', {
  tags: 'nightly',
}, async () => {
  const laboratory = await Laboratory.open()
  const references = new References(laboratory)
  const cases: Planned[] = []
  for (const [index, episode] of some(episodes, 12).entries()) {
    const reference = await references.of(episode)
    for (const [at, write] of numbered(reference.writes).entries()) {
      const edits = accountEdits.filter((edit) => mayBe(edit, episode))
      for (const [turn, point] of POINTS.entries()) {
        // Each episode of a life gets every edit at one of its writes; each kind gets all of them at each.
        const chosen = edits.filter((_, number) => (number + index + at + turn) % POINTS.length === 0)
        for (const edit of chosen) {
          const what = { write: `${episode.title}: ${write}`, point, fault: edit.title }
          cases.push({ episode, what, reference, ...played(edit, at, point !== POINTS[0]) })
        }
      }
    }
  }
  await playAll('edits of the Account', laboratory, some(spread(cases, MOST, turnAmong), 40), 600)
})

function played(edit: AccountEdit, at: number, isKilled: boolean): Pick<Planned, 'prepare' | 'trouble' | 'meanwhile'> {
  let over = Promise.withResolvers<void>()
  return {
    prepare: async (world) => {
      over = Promise.withResolvers()
      prepareEdits(world)
    },
    trouble: (world) => editing(world, edit, { at, isKilled }, () => over.resolve()),
    meanwhile: async (world) => {
      let isOver = false
      void over.promise.then(() => {
        isOver = true
      })
      await world.until(() => isOver, 10 * WRONG_MS)
    },
  }
}

/** The edit happens when the write of that number is sent. */
function editing(
  world: SimulatedWorld,
  edit: AccountEdit,
  { at, isKilled }: { readonly at: number; readonly isKilled: boolean },
  onOver: () => void,
): Trouble {
  let writes = 0
  let problems: readonly string[] = ['the edit was not made']
  return {
    request: (sighting: Sighting) => {
      if (!isWrite(sighting) || writes++ !== at) return undefined
      edit.begin(world)
      world.time.setTimer(WRONG_MS, () => {
        problems = madeElsewhere(world)
        edit.end(world)
        onOver()
      })
      return isKilled ? { type: 'kill', when: 'after' } : undefined
    },
    unspent: () => problems,
  }
}

/**
 * Edits that lead elsewhere need objects that identify the account, and so do those by which it loses its status: if
 * its only object is gone as well, a person has to confirm it (docs/decisions/0006-circuit-breaker.md). An edit that
 * leaves calls of the old session in flight with those of the new one can send a create's update twice, which changes
 * nothing and is not covered by this suite.
 */
function mayBe({ isElsewhere, keepsWorking, losesStatus }: AccountEdit, { before, needs }: Episode): boolean {
  if (losesStatus && needs.length === 0) return false
  if (keepsWorking && before === undefined) return false
  return !isElsewhere || before !== undefined || needs.length > 0
}

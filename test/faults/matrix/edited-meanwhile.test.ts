import { test } from 'vitest'
import { EDIT_SEED } from '../../kinds/shared/account.ts'
import { keptRules, meaningAt } from '../simulation/meaning-at.ts'
import { differences, Oracle } from '../simulation/oracle.ts'
import { Laboratory } from '../simulation/world.ts'
import { befalls } from '../simulation/writes.ts'
import { type Case, CaseList } from '../support/case-list.ts'
import { leastOf, some } from '../support/size.ts'
import { Fresh } from './seeds/fresh.ts'
import { kindsAmong, type Role, roles } from './seeds/roles.ts'

const POINTS = ['before', 'after'] as const
/** Upper bound of the number of writes of a create. */
const MOST_WRITES = 20

/** A create that is interrupted at a write by the death of its process; the next process finds another spec. */
interface Cut {
  readonly role: Role
  readonly from: number
  readonly to: number
  readonly at: number
  readonly when: (typeof POINTS)[number]
  readonly what: Case
}

test('killed at any write of a create, with another spec before the next process starts', async () => {
  const laboratory = await Laboratory.open()
  const fresh = new Fresh(laboratory)
  const list = new CaseList('edited while no operator runs', 'simulation', { least: leastOf(1000) })
  /** The highest number of writes of the creates so far. */
  const writes = new Map<object | undefined, number>()
  for (const cut of some(roles.flatMap(cutsOf), 60)) {
    const spec = cut.role.versions[cut.from]
    if (cut.at >= (writes.get(spec) ?? MOST_WRITES)) continue
    const problems = await play(laboratory, fresh, cut)
    if (problems === undefined) writes.set(spec, cut.at)
    else list.add(cut.what, problems)
  }
  await list.end()
})

/** From the first spec and from the last two to each other one. */
function cutsOf(role: Role): readonly Cut[] {
  const { kind, name, versions } = role
  const pairs = versions.flatMap((_, to) =>
    [...new Set([0, Math.max(0, versions.length - 2), versions.length - 1])].map((from) => ({ from, to })),
  )
  const cutsAt = (at: number): readonly Cut[] => {
    return pairs
      .filter(({ from, to }) => from !== to)
      .flatMap(({ from, to }) => {
        const fault = `SIGKILL, and version ${to} instead of ${from}`
        return POINTS.map((when): Cut => {
          return {
            role,
            from,
            to,
            at,
            when,
            what: { write: `${kind} ${name} create, write ${at + 1}`, point: when, fault },
          }
        })
      })
  }
  return Array.from({ length: MOST_WRITES }, (_, at) => cutsAt(at)).flat()
}

/** @returns the violations; undefined if the create has no such write. */
async function play(laboratory: Laboratory, fresh: Fresh, cut: Cut): Promise<readonly string[] | undefined> {
  const { role, from, to, at, when } = cut
  const { kind, name, versions, needs } = role
  const [first = {}, second = {}] = [versions[from], versions[to]]
  const world = laboratory.world({ kinds: kindsAmong([role]) })
  const problems: string[] = []
  let meaning: unknown
  try {
    world.api.emulator.admin.seed(EDIT_SEED)
    const oracle = await Oracle.watch(world)
    for (const need of needs) world.apply(need.kind, need.name, need.spec)
    problems.push(...(await oracle.untilRest()))
    const kill = befalls([{ at, fault: { type: 'kill', when } }])
    let isCut: boolean = false
    world.trouble = {
      request: (sighting) => {
        const fault = kill.request(sighting)
        if (fault !== undefined) {
          isCut = true
          world.time.setTimer(1, () => {
            oracle.specChanges(kind, name, second, [first])
            world.apply(kind, name, second)
          })
        }
        return fault
      },
    }
    oracle.specChanges(kind, name, first)
    world.apply(kind, name, first)
    problems.push(...(await oracle.untilRest()))
    if (!isCut) return undefined
    world.calm()
    oracle.allow({ others: new Set(await keptRules(world, kind, name)) })
    problems.push(...(await oracle.judge()))
    meaning = await meaningAt(world, { kind, name, spec: second })
  } finally {
    world.down()
  }
  return [...problems, ...differences(await fresh.of(role, to), meaning, `${kind}/${name}`)]
}

import type { FaultAct } from '../../../src/emulator/faults/fault-spec.ts'
import { applyAll, applyNeeds, casesTitled, collectionPaths, subjectsOf } from '../../cluster/support/cases.ts'
import { until } from '../../cluster/support/wait.ts'
import type { World } from '../../cluster/support/world.ts'
import { type Scene, type Subject, says } from '../scene.ts'

const cases = casesTitled('minimal')
const SUFFIX = 'unresolved'

/** The operator died while it checked the outcome of its requests. */
export const unresolvedLost: Scene = {
  name: 'unresolved-lost',
  about: 'One of each kind whose create was sent and has not arrived, while the operator was finding that out.',
  world: { flags: ['--workers', '60', '--scan-pause', '10m'] },
  async play({ world }) {
    const subjects = await sending(world, { type: 'hang', when: 'before' })
    await Promise.all(subjects.map(({ kind, name }) => says(world, kind, name, 'CreateUnresolved')))
    return subjects.map((subject) => ({ ...subject, state: 'CreateUnresolved' }))
  },
}

/** The operator died before the answers to its requests, with the ids, arrived. */
export const unresolvedMade: Scene = {
  name: 'unresolved-made',
  about: 'One of each kind that was made at the API, while the operator died before the answer arrived.',
  world: { flags: ['--workers', '60', '--request-timeout', '30s'] },
  async play({ world }) {
    const mark = world.mark()
    const subjects = await sending(world, { type: 'hang', when: 'after' })
    const faulty = () =>
      world.writes(mark).filter(({ method, fault, status }) => method === 'POST' && fault && status !== null)
    await until('every object is made', () => faulty().length >= subjects.length, {
      timeoutMs: 120_000,
      describe: faulty,
    })
    return subjects
  },
}

async function sending(world: World, act: FaultAct): Promise<readonly Subject[]> {
  await applyNeeds(world, cases, [SUFFIX])
  for (const path of collectionPaths(cases)) {
    world.emulator.admin.addFault({ match: { method: 'POST', path, every: true }, act })
  }
  const subjects = subjectsOf(cases, SUFFIX)
  await applyAll(world, subjects)
  return subjects.map(({ kind, name }) => ({ kind, name, state: 'create sent', phase: 'InProgress', after: 'Current' }))
}

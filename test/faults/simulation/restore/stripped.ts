import type { SpecCase } from '../../../kinds/lookup.ts'
import type { Laboratory } from '../world.ts'
import { isMarked, keyOf, Life, subjects } from './life.ts'
import type { Trial } from './trial.ts'

/**
 * Removes status and every annotation from resources whose objects carry a marker, with or without other keys: only
 * the marker says what is theirs.
 */
export const stripped: readonly Trial[] = subjects.map((subject) => ({
  what: { write: `${subject.kind} ${subject.title}`, point: 'at rest', fault: 'stripped of status and annotations' },
  run: (laboratory) => strippedOf(laboratory, subject),
}))

async function strippedOf(laboratory: Laboratory, subject: SpecCase): Promise<readonly string[] | undefined> {
  const life = await Life.open(laboratory, subject)
  const { world, oracle } = life
  try {
    const unrest = await life.begin()
    if (unrest.length > 0) return unrest
    const marked = world.all().filter(isMarked)
    if (!marked.some(({ kind }) => kind === subject.kind)) return undefined
    const [before, { length }] = [life.ids(), oracle.writes]
    world.down()
    for (const cr of marked) {
      const type = world.typeOf(cr.kind)
      world.kube.mergePatch(type, keyOf(cr), { metadata: { annotations: null } })
      world.kube.mergePatch(type, keyOf(cr), { status: null }, { subresource: 'status' })
    }
    world.up()
    const problems = await oracle.untilRest()
    const made = oracle.writes.slice(length).filter(({ server, method }) => server === 'api' && method === 'POST')
    const others = [...before].filter(([name, id]) => life.ids().get(name) !== id)
    return [
      ...problems,
      ...made.map((write) => `recreated: ${JSON.stringify(write)}`),
      ...others.map(([name, id]) => `${name} has ${life.ids().get(name)}, and had ${id}`),
    ]
  } finally {
    world.down()
  }
}

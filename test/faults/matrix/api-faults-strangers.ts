import { collectionTests } from '../../kinds/lookup.ts'
import type { SimulatedWorld } from '../simulation/world.ts'

const described = (number: number) => ({ description: `a stranger's, ${number}` })

/** Puts two unmarked objects into every collection of the world's kinds, and makes lists return pages of one. */
export async function amongStrangers(world: SimulatedWorld): Promise<void> {
  const paths = new Set(
    world.kinds.managed.flatMap(({ identity: { collections }, children }) => {
      return [...collections, ...(children === undefined ? [] : [children.collection])].map(({ path }) => path)
    }),
  )
  const made = new Map<string, string>()
  /** Makes two objects, after those that they refer to. @returns the id of the last */
  const strangerIn = async (path: string): Promise<string> => {
    const before = made.get(path)
    if (before !== undefined) return before
    const { stranger = described } = collectionTests(path) ?? {}
    for (const number of [1, 2]) {
      const { id } = await world.api.ask('POST', `/${path}`, await stranger(number, strangerIn))
      made.set(path, String(id))
    }
    return strangerIn(path)
  }
  for (const path of paths) await strangerIn(path)
  world.api.pageSize = 1
}

import { registerHooks } from 'node:module'
import { BROKEN, withSeams } from './with-seams.ts'

/**
 * Imported by each process of the simulation before anything else: breaks the operator there as the mutant says whose
 * title is in the environment. Nothing on disk changes.
 */

const SOURCES = new URL('../../src/', import.meta.url).href

/** @throws Error if there is no such mutant */
async function install(title: string, functions: ReadonlySet<string>): Promise<void> {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (!url.startsWith(SOURCES) || loaded.source == null) return loaded
      const source = withSeams(Buffer.from(loaded.source as Uint8Array).toString(), functions)
      return source === undefined ? loaded : { ...loaded, source }
    },
  })
  // Only now: it imports what is to be broken.
  const { protocolMutants } = await import('./all.ts')
  const mutant = protocolMutants.find((each) => each.title === title)
  if (mutant === undefined) throw new Error(`there is no such mutant: ${title}`)
  const broken = new Map<string, unknown>()
  for (const seam of mutant.seams) {
    if (seam.type === 'method') seam.install()
    else broken.set(seam.name, seam.broken)
  }
  Object.assign(globalThis, { [BROKEN]: broken })
}

const { CULVERT_MUTANT: title, CULVERT_MUTANT_FUNCTIONS: functions = '' } = process.env
if (title !== undefined) await install(title, new Set(functions.split(',')))

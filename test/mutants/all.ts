import { creating } from './creating.ts'
import { keeping } from './keeping.ts'
import type { Mutant } from './seam.ts'

/** Every mutant of the protocol. */
export const protocolMutants: readonly Mutant[] = [...creating, ...keeping]

import { creating } from './creating.ts'
import { keeping } from './keeping.ts'
import type { Mutant } from './mutant.ts'
import { reading } from './reading.ts'
import { sharing } from './sharing.ts'

/** Every mutant of the protocol chosen by hand. */
export const protocolMutants: readonly Mutant[] = [...creating, ...keeping, ...reading, ...sharing]

import { noCitations } from './descriptions.ts'
import type { Lint } from './lint.ts'

/** What `npm run generate` holds every kind to. */
export const lints: readonly Lint[] = [noCitations]

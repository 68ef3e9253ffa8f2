import { fileURLToPath } from 'node:url'

/** The command `culvert`: the program that `npm test` made of the sources, else the sources themselves. */
export const PROGRAM = process.env.CULVERT_TEST_PROGRAM ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url))

import { constants } from 'node:os'
import { expect, it } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'

/** Waits for its input, so that its priority is set by then, and starts a process that prints its own. */
const PRINT_PRIORITY = "read -r _; sh -c 'ps -o ni= -p $$'"

it('gives a program of low priority, and what it starts, only the time that others leave', async () => {
  const options = { stdin: '\n', lowPriority: true }
  const { stdout } = await runProgram('sh', ['-c', PRINT_PRIORITY], options)
  expect(Number(stdout)).toBe(constants.priority.PRIORITY_LOW)
})

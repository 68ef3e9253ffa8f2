import { expect, inject } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'

/** The command at the end of a message to people. */
export function printedCommand(message: string): string {
  return message.slice(message.indexOf('kubectl '))
}

/** Runs a command in a shell as it was printed, with the real kubectl, and enters `input`. */
export async function runPrinted(command: string, kubeconfig: string, input = ''): Promise<void> {
  // A pipe, as from a terminal or another command: what Node opens is a socket, which no path leads to.
  const script = `kubectl() { "$KUBECTL" "$@"; }\nprintf %s "$INPUT" | ${command}`
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECTL: inject('kubectlPath'), INPUT: input }
  const { code, stderr } = await runProgram('bash', ['-c', script], { env })
  expect(code, stderr).toBe(0)
}

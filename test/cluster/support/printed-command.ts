import { expect, inject } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'

/** The command at the end of a message to people. */
export function printedCommand(message: string): string {
  return message.slice(message.indexOf('kubectl '))
}

/** Runs a command in a shell as it was printed, with the real kubectl, and enters `stdin`. */
export async function runPrinted(command: string, kubeconfig: string, stdin = ''): Promise<void> {
  const script = `kubectl() { "$KUBECTL" "$@"; }\n${command}`
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECTL: inject('kubectlPath') }
  const { code, stderr } = await runProgram('bash', ['-c', script], { env, stdin })
  expect(code, stderr).toBe(0)
}

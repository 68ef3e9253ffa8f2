import { runProgram } from '../../controlplane/run-program.ts'

/** What bash offers after these words, the last of which may be begun, with this completion script. */
export async function completedInBash(script: string, words: readonly string[]): Promise<readonly string[]> {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const stdin = `${script}
compopt() { :; }
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _culvert; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { code, stdout, stderr } = await runProgram('bash', ['-s'], { stdin })
  if (code !== 0) throw new Error(`bash ended with ${code}: ${stderr}`)
  return stdout.split('\n').filter((line) => line !== '')
}

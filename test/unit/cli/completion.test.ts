import { describe, expect, test } from 'vitest'
import type { Completion } from '../../../src/cli/completion/completions.ts'
import { bashScript, fishScript, zshScript } from '../../../src/cli/completion-command.ts'
import { completedInBash } from '../../builders/completed.ts'

const completions: readonly Completion[] = [
  {
    name: 'why',
    summary: "what a resource waits for, in one person's words",
    options: ['--output'],
    words: ['edge/', 'account/'],
  },
  { name: 'sessions', summary: 'agents', options: [], words: ['list'] },
]

/** The words that bash offers after these. */
function offered(...words: readonly string[]): Promise<readonly string[]> {
  return completedInBash(bashScript(completions), words)
}

describe('completion in bash', () => {
  test('offers commands first', async () => {
    expect(await offered('culvert', '')).toEqual(['why', 'sessions'])
    expect(await offered('culvert', 'w')).toEqual(['why'])
  })

  test('offers the kinds and options of a command after it', async () => {
    expect(await offered('culvert', 'why', '')).toEqual(['edge/', 'account/', '--output'])
    expect(await offered('culvert', 'why', '--')).toEqual(['--output'])
    expect(await offered('culvert', 'sessions', 'l')).toEqual(['list'])
  })

  test('asks culvert for names of resources and of namespaces', async () => {
    const script = `culvert() { echo edge/shop; echo :4; }\n${bashScript(completions)}`
    expect(await completedInBash(script, ['culvert', 'why', 'edge/s'])).toEqual(['edge/shop'])
    const asking = `culvert() { echo "$#-$1-$5"; echo :4; }\n${bashScript(completions)}`
    expect(await completedInBash(asking, ['culvert', 'why', 'edge/shop', '-n', ''])).toEqual(['5-__complete-'])
  })
})

test('scripts of other shells quote summaries, and name each command', () => {
  for (const script of [zshScript(completions), fishScript(completions)]) {
    expect(script).toContain(String.raw`one person'\''s words`)
    expect(script).toContain('sessions')
  }
})

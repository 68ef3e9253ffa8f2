import { describe, expect, test } from 'vitest'
import { bashScript, type Completion, fishScript, zshScript } from '../../../src/cli/completion-command.ts'
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
})

test('scripts of other shells quote summaries, and name each command', () => {
  for (const script of [zshScript(completions), fishScript(completions)]) {
    expect(script).toContain(String.raw`one person'\''s words`)
    expect(script).toContain('sessions')
  }
})

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

test('every ssh command of the documentation knows the host key, and so waits for no answer', () => {
  const commands = globSync('docs/*.md', { cwd: ROOT }).flatMap((file) => {
    return readFileSync(`${ROOT}${file}`, 'utf8').match(/^ssh -.*$/gm) ?? []
  })
  expect(commands.length).toBeGreaterThan(0)
  for (const command of commands) expect(command).toContain('-o UserKnownHostsFile=known_hosts')
})

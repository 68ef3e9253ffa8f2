import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { commands } from '../../../src/cli/commands.ts'
import { kinds } from '../../../src/kinds/index.ts'

const FILE = new URL('../../../docs/cli/k9s.yaml', import.meta.url)

test('the plugins of k9s run existing commands, for resources of every kind', async () => {
  const { plugins } = parse(await readFile(FILE, 'utf8')) as {
    readonly plugins: Readonly<Record<string, { readonly scopes: readonly string[]; readonly args: readonly string[] }>>
  }
  const plurals = kinds.map(({ definition }) => definition.plural).sort()
  for (const { scopes, args } of Object.values(plugins)) {
    expect(scopes).toEqual(plurals)
    const [, name = ''] = /^kubectl culvert (\w+) /.exec(args[1] ?? '') ?? []
    expect(Object.keys(commands)).toContain(name)
  }
})

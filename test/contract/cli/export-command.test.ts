import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { runExport } from '../../../src/cli/export-command.ts'
import { readEnvironment } from '../../../src/config.ts'
import { readYaml } from '../../../src/util/yaml/read.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import { startWorld, type World } from '../../builders/contract/world.ts'

let world: World
let folder: string

const placeholder = JSON.stringify({
  culvert: { installation: 'i', kind: 'IPPolicy', namespace: 'shop', name: 'x', uid: 'u', nonce: 'guard' },
})

/** As a provider of Terraform stores them. */
const state = JSON.stringify({
  version: 4,
  resources: [
    { mode: 'managed', type: 'ngrok_ip_policy', name: 'no', instances: [{ attributes: { id: 'ipp_2' } }] },
    {
      module: 'module.a',
      mode: 'managed',
      type: 'ngrok_ip_policy_rule',
      name: 'eu',
      instances: [{ index_key: "it's", attributes: { id: 'ipr_1' } }],
    },
  ],
})

beforeAll(async () => {
  world = await startWorld()
  await world.admin.seed({
    objects: {
      ip_policies: [
        { id: 'ipp_1', description: 'on' },
        { id: 'ipp_2', description: 'office' },
        { id: 'ipp_3', description: 'a spare', metadata: placeholder },
      ],
      ip_policy_rules: [
        { id: 'ipr_1', ip_policy_id: 'ipp_1', cidr: '192.0.2.0/24', action: 'allow', metadata: '{"team":"x"}' },
      ],
    },
  })
})

afterAll(() => world.close())

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-export-'))
})

afterEach(() => rm(folder, { recursive: true }))

async function run(
  more: { readonly split?: string; readonly strict?: boolean; readonly terraformState?: string } = {},
) {
  const flags = { kind: ['IPPolicy'], id: [], namespace: 'shop', baseUrl: world.url, ...more }
  const terminals = capturedTerminals()
  const code = await runExport(flags, readEnvironment({ CULVERT_API_KEY: world.apiKey }), terminals)
  return { code, ...terminals.printed() }
}

const LEFT_OUT = 'ip_policies/ipp_3 "a spare": it is a placeholder of IPPolicy shop/x'

test('what is left out is listed with id and name, in the file too, and is an error with --strict', async () => {
  const { code, output, errors } = await run()
  expect({ code, errors }).toEqual({ code: 0, errors: `left out ${LEFT_OUT}\n` })
  expect(output).toMatch(`# Left out:\n#   ${LEFT_OUT}\n---\n`)
  expect((await run({ strict: true })).code).toBe(1)
})

test('no name is one that a reader of YAML takes for something else', async () => {
  const terraformState = join(folder, 'state')
  await writeFile(terraformState, state)
  const { output } = await run({ terraformState })
  const names = readYaml(output).map(({ value }) => (value as { metadata: { name: string } }).metadata.name)
  expect(names.toSorted()).toEqual(['ippolicy-no', 'ippolicy-on'])
})

test('inline rules are mentioned with their metadata and their place in a Terraform state', async () => {
  const terraformState = join(folder, 'state')
  await writeFile(terraformState, state)
  const { output } = await run({ terraformState })
  expect(output).toContain(
    '# ip_policy_rules/ipr_1 has metadata that is not part of this manifest, and stays as it is: {"team":"x"}\n',
  )
  expect(output).toContain(
    '# ip_policy_rules/ipr_1 is in the Terraform state as module.a.ngrok_ip_policy_rule.eu["it\'s"]',
  )
  expect(output).toContain(`# In the Terraform state. Remove before anything here is changed:
# terraform state rm 'module.a.ngrok_ip_policy_rule.eu["it'\\''s"]'
# terraform state rm ngrok_ip_policy.no
`)
})

test('with --split, each manifest has a file of its own, in a folder that held nothing', async () => {
  const split = join(folder, 'new')
  const { code, output, errors } = await run({ split })
  expect({ code, output }).toEqual({ code: 0, output: '' })
  expect(errors).toContain('wrote 2 manifests into ')
  expect((await readdir(split)).toSorted()).toEqual(['NOTES.txt', 'ippolicy-ippolicy-on.yaml', 'ippolicy-office.yaml'])
  expect(await readFile(join(split, 'NOTES.txt'), 'utf8')).toBe(`Left out:\n  ${LEFT_OUT}\n`)
  const [document] = readYaml(await readFile(join(split, 'ippolicy-office.yaml')))
  expect(document?.value).toMatchObject({ kind: 'IPPolicy', metadata: { name: 'office' } })
  expect(await run({ split })).toMatchObject({ code: 1, output: '' })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, inject, onTestFinished, test } from 'vitest'
import { runProgram } from '../../../controlplane/run-program.ts'
import { runExport } from '../../../src/cli/export-command.ts'
import { runPlan } from '../../../src/cli/plan-command.ts'
import { readEnvironment } from '../../../src/config.ts'
import { readYaml } from '../../../src/util/yaml/read.ts'
import { writeYaml } from '../../../src/util/yaml/write.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import { awkwardTexts } from '../../yaml/awkward-texts.ts'
import { readAsKubectl } from '../../yaml/kubectl-reader.ts'
import { World } from '../support/world.ts'

const words = awkwardTexts.filter((text) => text.length < 100)

test('every awkward text is written so that kubectl reads it, as a value, as a key and in both', {
  timeout: 300_000,
}, async () => {
  const contents = words.flatMap((text) => [{ a: text }, { [text]: 'a' }, { a: [{ [text]: text }], b: { c: text } }])
  const answers = await readAsKubectl(contents.map(writeYaml))
  for (const [index, content] of contents.entries()) {
    expect(answers[index], JSON.stringify(content)).toEqual({ documents: [content] })
  }
})

/** Pieces of files, well-formed and not; no byte order mark, after which the Go code skips other characters. */
const piece = fc.constantFrom(
  ...words.filter((word) => word !== '\ufeff'),
  ...[
    'a',
    'b: 1',
    '\nb: 2',
    '\n  c: 3',
    ': ',
    ':',
    ', ',
    '{',
    '}',
    '[',
    ']',
    '? ',
    '\n- ',
    '\n  - ',
    '&a ',
    '*a',
    '<<: *a',
  ],
  ...[
    '|\n',
    '>\n  ',
    '|-',
    '>+',
    '|2',
    ' # c',
    '!!str ',
    '!!int ',
    '!!float ',
    '!!binary ',
    '!x ',
    '"a\\u00e9"',
    '"\\ud83d"',
  ],
  ...['\n---\n', '---', '\n...\n', '%YAML 1.1', 'c: &a {x: 1}\n', '\nd: &b\n  y: on\n', '{"a": 1}', '\t', '  '],
)
const soup = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
const scalar = fc.constantFrom(
  ...words.filter((word) => /^[\w.~+<=:-]+$/.test(word)),
  '*a',
  '"q"',
  '[1, no]',
  '{on: off}',
)
const key = fc.constantFrom('a', 'b', 'on', '1', '0x1', '1.5', '1e7', '"q"', '<<', '? k', 'c d')
const tree = fc
  .array(fc.tuple(key, fc.oneof(scalar, fc.array(fc.tuple(key, scalar), { minLength: 1, maxLength: 3 }))), {
    maxLength: 6,
  })
  .map((fields) => {
    const lines = fields.map(([name, value]) => {
      const below = (pairs: readonly (readonly [string, string])[]) => pairs.map(([k, v]) => `\n  ${k}: ${v}`).join('')
      return `${name}:${typeof value === 'string' ? ` ${value}` : below(value)}\n`
    })
    return `z: &a {x: 1}\n${lines.join('')}`
  })

/** What is refused although kubectl accepts it: only where it ignores the rest, or a later key hides the problem. */
const STRICTER = [
  'directives are not allowed',
  'found undefined tag handle',
  'escaped characters in tags are not supported',
  'a key must be text: quote it',
  'JSON has no such number',
  // What begins as JSON, and is refused as YAML for one of these reasons.
  'invalid JSON',
  'is a key twice: remove one of them',
]

test('a file is read as kubectl reads it, and what kubectl refuses is refused', { timeout: 300_000 }, async () => {
  const files = fc.sample(
    fc.oneof(
      soup,
      tree,
      fc.tuple(tree, soup).map(([one, other]) => one + other),
    ),
    { numRuns: 20_000, seed: 48 },
  )
  const answers = await readAsKubectl(files)
  let read = 0
  for (const [index, file] of files.entries()) {
    const { documents, error } = answers[index] ?? { documents: [] }
    const { values, refused } = outcomeOf(file)
    if (error !== undefined) expect(refused, JSON.stringify({ file, error })).toBeDefined()
    else if (refused === undefined) expect(values, JSON.stringify(file)).toEqual(documents)
    else if (!STRICTER.some((message) => refused.endsWith(message))) expect.fail(JSON.stringify({ file, refused }))
    if (refused === undefined) read += 1
  }
  expect(read).toBeGreaterThan(files.length / 10)
})

function outcomeOf(file: string): { readonly values: readonly unknown[]; readonly refused?: string } {
  try {
    return { values: readYaml(file).map(({ value }) => value) }
  } catch (error) {
    return { values: [], refused: (error as Error).message }
  }
}

async function apply(world: World, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'culvert-apply-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'all.yaml')
  await writeFile(file, text)
  const env = { ...process.env, KUBECONFIG: world.kubeconfig }
  const { code, stderr } = await runProgram(inject('kubectlPath'), ['apply', '-f', file], { env })
  expect(code, stderr).toBe(0)
  return file
}

test('an export with awkward texts, applied with kubectl, changes nothing at the API', {
  timeout: 300_000,
}, async () => {
  await using world = await World.open()
  await world.ready('Account', 'default')
  const labels = ['on', 'no', 'y', 'n', 'true', 'null', '1_000', '0310', '0b11', '1e3', '2001-01-01']
  for (const [index, text] of words.entries()) {
    await world.api.post('/ip_policies', { description: text, metadata: words.at(-index) ?? '' })
  }
  for (const text of labels) {
    await world.api.post('/backends/tunnel_group', { description: text, labels: { [text]: text, app: 'yes-1' } })
  }
  const terminals = capturedTerminals()
  const { url: baseUrl, apiKey } = world.emulator
  const flags = { kind: ['IPPolicy', 'Backend'], id: [], namespace: world.namespace, baseUrl, apiKey, strict: true }
  expect(await runExport(flags, readEnvironment({}), terminals)).toBe(0)
  const { output } = terminals.printed()
  const documents = readYaml(output).map(({ value }) => value as { kind: string; metadata: { name: string } })
  expect(documents).toHaveLength(words.length + labels.length)
  const mark = world.mark()
  await apply(world, output)
  for (const { kind, metadata } of documents) await world.ready(kind, metadata.name)
  expect(world.writes(mark)).toEqual([])
})

test('a manifest of YAML 1.1 is planned as what kubectl stores', { timeout: 120_000 }, async () => {
  await using world = await World.open()
  await world.ready('Account', 'default')
  const head = (name: string) => {
    const { namespace } = world
    return `apiVersion: culvert.dev/v1alpha1\nkind: Backend\nmetadata: {name: ${name}, namespace: ${namespace}}\n`
  }
  const text = [
    `${head('octal')}spec:\n  type: HTTPResponse\n  httpResponse: {statusCode: 0310, body: x}\n`,
    `${head('labels')}spec: {type: TunnelGroup, tunnelGroup: {labels: {on: "1", 0x1F: "no"}}}\n`,
    `${head('merged')}spec:\n  httpResponse: &a {statusCode: 503, body: "x"}\n  type: HTTPResponse\n  <<: {description: "1_0"}\n`,
  ].join('---\n')
  const file = await apply(world, text)
  for (const { value } of readYaml(text)) {
    const { metadata, spec } = value as { metadata: { name: string }; spec: object }
    expect((await world.ready('Backend', metadata.name)).spec).toEqual(spec)
  }
  const terminals = capturedTerminals()
  const { kubeconfig, namespace, operatorNamespace } = world
  const flags = { filename: [file], kubeconfig, namespace, operatorNamespace, prune: false, account: 'Account/default' }
  const code = await runPlan({ ...flags, output: 'text' }, readEnvironment({}), { input: [], ...terminals })
  const { output, errors } = terminals.printed()
  expect({ code, output }).toEqual({ code: 0, output: 'Nothing to do: the account is as the manifests say.\n' })
  expect(errors).toContain('kubectl reads "0310" as 200, YAML 1.2 as 310: quote it')
})

const raw = fc.constantFrom(...words.filter((word) => /^[\w.~+<=:-]+$/.test(word)))
const NUMBERS = [
  '200',
  '0310',
  '0o620',
  '0x190',
  '2_0_0',
  '+404',
  '0b111110111',
  '5.0e+2',
  '503.0',
  '1e2',
  '410 # gone',
]
/** A Backend with one scalar that stands as it is, without quotes: as a value, as a key, or as a number. */
const backend = fc
  .record({ word: raw, status: fc.constantFrom(...NUMBERS), place: fc.constantFrom('description', 'label', 'status') })
  .map(({ word, status, place }) => {
    if (place === 'status')
      return `spec: {type: HTTPResponse, httpResponse: {statusCode: ${status}, body: "${word}"}}\n`
    const [text, label] = place === 'label' ? ['"shop"', word] : [word, 'app']
    return `spec: {type: TunnelGroup, description: ${text}, tunnelGroup: {labels: {${label}: "1"}}}\n`
  })

test('every generated manifest that kubectl stores is planned as it is stored', { timeout: 300_000 }, async () => {
  await using world = await World.open()
  await world.ready('Account', 'default')
  const { kubeconfig, namespace, operatorNamespace } = world
  const folder = await mkdtemp(join(tmpdir(), 'culvert-generated-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const specs = fc.sample(backend, { numRuns: 300, seed: 48 })
  for (const [index, spec] of specs.entries()) {
    const head = `apiVersion: culvert.dev/v1alpha1\nkind: Backend\nmetadata: {name: b${index}, namespace: ${namespace}}\n`
    await writeFile(join(folder, `b${index}.yaml`), head + spec)
  }
  // Some are refused, by kubectl or by the CRD: it goes on with the others.
  await runProgram(inject('kubectlPath'), ['apply', '-f', folder], { env: { ...process.env, KUBECONFIG: kubeconfig } })
  const names = (await world.list('Backend')).map(({ metadata }) => metadata.name)
  expect(names.length).toBeGreaterThan(50)
  for (const name of names) await world.ready('Backend', name, 60_000)
  const terminals = capturedTerminals()
  const filename = names.map((name) => join(folder, `${name}.yaml`))
  const flags = { filename, kubeconfig, namespace, operatorNamespace, prune: false, account: 'Account/default' }
  const code = await runPlan({ ...flags, output: 'text' }, readEnvironment({}), { input: [], ...terminals })
  const { output, errors } = terminals.printed()
  expect({ code, output }, errors).toEqual({ code: 0, output: 'Nothing to do: the account is as the manifests say.\n' })
})

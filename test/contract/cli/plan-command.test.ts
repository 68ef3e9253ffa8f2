import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runPlan } from '../../../src/cli/plan-command.ts'
import { readEnvironment } from '../../../src/config.ts'
import { capturedTerminals } from '../../builders/captured-text.ts'
import { startWorld, type World } from '../../builders/contract/world.ts'
import { type BareManifest, manifestsOf, Planning } from '../../builders/planning.ts'

let world: World
let planning: Planning
let folder: string

beforeAll(async () => {
  world = await startWorld()
  planning = new Planning(world)
})

afterAll(async () => {
  await planning.close()
  await world.close()
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'culvert-plan-'))
})

afterEach(() => rm(folder, { recursive: true }))

interface Given {
  readonly output?: 'text' | 'json' | 'markdown'
  readonly input?: readonly string[]
  readonly baseUrl?: string
  readonly prune?: boolean
}

/** Runs the command on a file with this text, or on standard input. */
async function run(text: string, { output: form = 'text', input, baseUrl = world.url, prune = false }: Given = {}) {
  const file = join(folder, 'all.yaml')
  await writeFile(file, text)
  const flags = {
    filename: [input === undefined ? file : '-'],
    namespace: 'shop',
    operatorNamespace: 'culvert-system',
    output: form,
    prune,
  }
  const environment = readEnvironment({ CULVERT_BASE_URL: baseUrl, CULVERT_API_KEY: world.apiKey })
  const terminals = capturedTerminals()
  const code = await runPlan(flags, environment, { input: input ?? [], ...terminals })
  const { output, errors } = terminals.printed()
  return { code, output, errors: errors.replaceAll(folder, '') }
}

const textOf = (resources: readonly BareManifest[]): string => {
  return manifestsOf(resources)
    .map(({ manifest }) => JSON.stringify(manifest))
    .join('\n---\n')
}

const office = (rules: readonly unknown[]): BareManifest => ({ kind: 'IPPolicy', name: 'office', spec: { rules } })
const monitor: BareManifest = {
  kind: 'EventDestination',
  name: 'monitor',
  spec: { type: 'Monitor', monitor: { apiKeySecretRef: { name: 'spec-inputs', key: 'apiKey' } } },
}
const edge = (more: object): BareManifest => ({ kind: 'Edge', name: 'shop', spec: { protocol: 'TCP', ...more } })
const [allow, deny] = [
  { cidr: '198.51.100.0/24', action: 'Allow' },
  { cidr: '198.51.100.7/32', action: 'Deny' },
]

describe('culvert plan', () => {
  test('prints each request with its fields, and ends with 2', async () => {
    const { code, output, errors } = await run(
      textOf([office([allow]), edge({ ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } })]),
    )
    expect({ code, errors }).toEqual({ code: 2, errors: '' })
    expect(output).toBe(`1. + create ip_policies for IPPolicy shop/office
2. + create ip_policy_rules for IPPolicy shop/office
     ip_policy_id: (known after apply)
     cidr: "198.51.100.0/24"
     action: "allow"
3. + create edges/tcp for Edge shop/shop
     hostports: []
     ip_restriction.enabled: true
     ip_restriction.ip_policy_ids: ["(known after apply)"]
Plan: 3 to create, 0 to update, 0 to delete.
`)
  })

  test('ends with 0 and one line when nothing is to be done', async () => {
    const manifests = [{ ...office([allow]), name: 'done' }]
    await planning.apply(manifestsOf(manifests))
    expect(await run(textOf(manifests))).toEqual({
      code: 0,
      errors: '',
      output: 'Nothing to do: the account is as the manifests say.\n',
    })
  })

  test('marks what opens an edge or a policy and what is deleted, and ends with 3', async () => {
    const restricted = { ipRestriction: { ipPolicyRefs: [{ name: 'office' }] } }
    await planning.apply(manifestsOf([office([allow, deny]), edge(restricted)]))
    const { code, output } = await run(textOf([office([allow]), edge({})]))
    expect(code).toBe(3)
    const marked = output.split('\n').filter((line) => line.includes('!'))
    expect(marked.map((line) => line.trim())).toEqual([
      '! the object is deleted',
      '! the policy no longer refuses 198.51.100.7/32',
      '! ip_restriction leaves the live edge',
      'Plan: 0 to create, 1 to update, 1 to delete. Look at 2 of them first: they are marked with "!".',
    ])
  })

  test('lists each module of an adopted edge that its manifest does not name, and ends with 3', async () => {
    const [policy, id] = ['ipp_adopted', 'edgtcp_adopted']
    await world.admin.seed({
      objects: { ip_policies: [{ id: policy }], 'edges/tcp': [{ id, ip_restriction: { ip_policy_ids: [policy] } }] },
    })
    const adopted = { ...edge({ externalID: id, managementPolicy: 'Manage' }), name: 'adopted' }
    const text = await run(textOf([adopted]))
    expect(text.code).toBe(3)
    expect(text.output).toContain(`Edge shop/adopted (${id}): ipRestriction`)
    expect(text.output).not.toContain('Nothing to do')
    const { output } = await run(textOf([adopted]), { output: 'json' })
    expect(JSON.parse(output)).toMatchObject({ unnamedModules: [{ id, modules: ['ipRestriction'] }] })
    const markdown = await run(textOf([adopted]), { output: 'markdown' })
    expect(markdown.output).toContain(`> - \`Edge shop/adopted (${id}): ipRestriction\``)
    const named = edge({
      externalID: id,
      managementPolicy: 'Manage',
      ipRestriction: { ipPolicyRefs: [{ id: policy }] },
    })
    expect(await run(textOf([{ ...named, name: 'adopted' }]))).toMatchObject({ code: 0 })
  })

  test('marks what may lock out', async () => {
    const restriction: BareManifest = {
      kind: 'IPRestriction',
      name: 'api',
      spec: { type: 'API', enforcement: 'Enforce', acknowledgeAPIRestriction: true, ipPolicyRefs: [{ name: 'lock' }] },
    }
    const { code, output } = await run(textOf([{ ...office([allow]), name: 'lock' }, restriction]))
    expect(code).toBe(3)
    expect(output).toContain('! it decides who may call the API')
  })

  test('never prints a secret, in whatever form', async () => {
    for (const output of ['text', 'json', 'markdown'] as const) {
      const ran = await run(textOf([monitor]), { output })
      expect(ran.code).toBe(2)
      expect(ran.output + ran.errors).not.toContain('key-1')
    }
    expect((await run(textOf([monitor]))).output).toContain('target: (secret, changed)')
  })

  test('prints JSON that its schema describes', async () => {
    const schema = JSON.parse(readFileSync(new URL('../../../docs/cli/plan.schema.json', import.meta.url), 'utf8'))
    const check = new Ajv2020().compile(schema)
    const waiting = edge({ backend: { name: 'nowhere' } })
    const { code, output } = await run(textOf([office([deny]), monitor, { ...waiting, name: 'waiting' }]), {
      output: 'json',
    })
    const plan = JSON.parse(output)
    expect(check(plan), JSON.stringify(check.errors)).toBe(true)
    expect(code).toBe(3)
    expect(plan.unplanned).toMatchObject([{ resource: { kind: 'Edge', name: 'waiting' }, isWaiting: true }])
  })

  test('prints markdown with a warning and a table', async () => {
    const { output } = await run(textOf([office([allow])]), { output: 'markdown' })
    expect(output).toContain('**Plan: ')
    expect(output).toContain('> [!WARNING]')
    expect(output).toMatch(/\| 1 \| ⚠ delete `ip_policy_rules\/ipr_\w+` \| `IPPolicy shop\/office` \|/)
  })

  test('reads standard input', async () => {
    const { code, output } = await run('', { input: [textOf([{ ...office([allow]), name: 'piped' }])] })
    expect(code).toBe(2)
    expect(output).toContain('IPPolicy shop/piped')
  })

  test('ends with 1 for a resource that cannot be applied, and says why', async () => {
    const address = (region: string): BareManifest => ({ kind: 'ReservedAddress', name: 'place', spec: { region } })
    await planning.apply(manifestsOf([address('eu')]))
    const { code, output } = await run(textOf([address('us')]))
    expect(code).toBe(1)
    expect(output).toContain('ReservedAddress shop/place: InvalidSpec: region cannot be changed')
  })
})

describe('culvert plan refuses', () => {
  const policy = (rule: string) => `apiVersion: culvert.dev/v1alpha1
kind: IPPolicy
metadata:
  name: office
spec:
  rules:
    - ${rule}
`

  test.each([
    [
      'what the schema refuses',
      policy('{ cidr: 10.0.0.0/8, action: Maybe }'),
      'IPPolicy/office: spec.rules[0].action must be one of Allow, Deny, is "Maybe"',
      7,
    ],
    [
      'what a rule refuses',
      policy('{ cidr: 10.0.0.1/8, action: Allow }'),
      'IPPolicy/office: spec.rules[0].cidr: cidr has host bits set',
      7,
    ],
    [
      'an unknown field',
      policy('{ cidr: 10.0.0.0/8, action: Allow, comment: x }'),
      'IPPolicy/office: spec.rules[0].comment is not a field',
      7,
    ],
    [
      'an unknown kind',
      policy('{}').replace('IPPolicy', 'IPPolcy'),
      'IPPolcy/office: culvert.dev has no kind IPPolcy',
      2,
    ],
    ['no YAML', 'a: [', 'is not YAML', 2],
    ['a label that is no text', policy('{}').replace('metadata:', 'metadata:\n  labels: { a: yes }'), 'quote it', 4],
    ['what is no manifest', 'just: a map', 'has no apiVersion', 1],
  ])('%s, with file and line', async (_what, text, message, line) => {
    const { code, output, errors } = await run(text)
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(new RegExp(`^/all.yaml:${line} `))
    expect(errors).toContain(message)
  })

  test('two manifests of one name', async () => {
    const { code, errors } = await run(textOf([office([allow]), office([deny])]))
    expect(code).toBe(1)
    expect(errors).toMatch(/both describe IPPolicy shop\/office: remove one of them/)
  })

  test('an account that cannot be reached, and a wrong key, in one line', async () => {
    const unreachable = await run(textOf([office([allow])]), { baseUrl: 'http://127.0.0.1:1' })
    expect(unreachable).toMatchObject({ code: 1, output: '' })
    expect(unreachable.errors.split('\n')).toHaveLength(2)
  })

  test('to prune without a cluster', async () => {
    const { code, errors } = await run(textOf([office([allow])]), { prune: true })
    expect(code).toBe(1)
    expect(errors).toContain('--prune compares with a cluster')
  })
})

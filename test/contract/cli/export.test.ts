import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportAccount } from '../../../src/cli/export/export-account.ts'
import { manifestText } from '../../../src/cli/export/manifest-text.ts'
import { type ManifestAt, parseManifestsAt } from '../../../src/cli/manifests.ts'
import { kinds } from '../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../src/managed/kinds-registry.ts'
import { startWorld, type World } from '../../builders/contract/world.ts'
import { manifestsOf, NAMESPACE, Planning } from '../../builders/planning.ts'
import { managedKindTests } from '../../kinds/index.ts'
import { specsOf } from '../../kinds/lookup.ts'
import { SEED } from '../../kinds/shared/account.ts'

let world: World
let planning: Planning

beforeAll(async () => {
  world = await startWorld({ certSeconds: 1 })
  await world.admin.seed(SEED)
  planning = new Planning(world)
})

afterAll(async () => {
  await planning.close()
  await world.close()
})

/** The account as the command writes it down, read again. */
async function exported(only?: ReadonlySet<string>): Promise<readonly ManifestAt[]> {
  const result = await exportAccount({
    kinds: new KindsRegistry(kinds),
    reader: planning.reader,
    namespace: NAMESPACE,
    only,
  })
  expect(result.leftOut).toEqual([])
  return parseManifestsAt(manifestText(result), 'export.yaml')
}

const cases = managedKindTests.flatMap(({ kind }) => specsOf(kind))

/** What people, and other programs, write as descriptions. */
const awkward = [
  '',
  ' ',
  'Büro – Zürich',
  '办公室',
  'office',
  'Office',
  'a: b # c',
  '"quoted", it\'s',
  '- x',
  '{}',
  'yes',
  'null',
  '0x1F',
  '2026-01-01',
  '---',
  'two\nlines\n',
  'trailing\n\n',
  '\ttab',
  '\u2028 and \u0085',
  '🙂'.repeat(40),
  '%YAML 1.2',
  '*.example.com',
  'x'.repeat(200),
  '&anchor *alias !tag',
  '| block',
]

describe('an account made by hand', () => {
  let world: World
  let planning: Planning

  beforeAll(async () => {
    world = await startWorld()
    planning = new Planning(world)
    const texts = awkward.flatMap((description, index) => {
      return [
        { description, metadata: awkward.at(-index) ?? '' },
        { description, metadata: `{ "n":  ${index} }` },
      ]
    })
    await world.admin.seed({
      objects: {
        ip_policies: texts.map((each, index) => ({ ...each, id: `ipp_hand${index}` })),
        'backends/tunnel_group': texts.map((each, index) => ({
          ...each,
          id: `bkdtg_hand${index}`,
          labels: { a: 'b' },
        })),
        'backends/weighted': texts.map((each, index) => ({ ...each, backends: { [`bkdtg_hand${index}`]: 3 } })),
        reserved_addrs: texts,
        'edges/tcp': texts.map((each, index) => ({
          ...each,
          backend: { backend_id: `bkdtg_hand${index}` },
          ip_restriction: { ip_policy_ids: [`ipp_hand${index}`] },
        })),
        ssh_certificate_authorities: texts,
      },
    })
  }, 60_000)

  afterAll(async () => {
    await planning.close()
    await world.close()
  })

  test('with awkward texts is written down so that nothing is left to do, references included', async () => {
    const result = await exportAccount({
      kinds: new KindsRegistry(kinds),
      reader: planning.reader,
      namespace: NAMESPACE,
    })
    expect(result.leftOut).toEqual([])
    const manifests = parseManifestsAt(manifestText(result), 'export.yaml')
    expect(manifests.length).toBeGreaterThanOrEqual(300)
    expect(manifests.map(({ manifest }) => manifest)).toEqual(result.manifests.map(({ manifest }) => manifest))
    const edges = manifests.filter(({ manifest }) => manifest.kind === 'Edge')
    for (const { manifest } of edges) {
      expect(manifest.spec).toMatchObject({
        backend: { name: expect.any(String) },
        ipRestriction: { ipPolicyRefs: [{ name: expect.any(String) }] },
      })
    }
    const plan = await planning.plan(manifests)
    expect(plan.operations).toEqual([])
    expect(plan.unplanned).toEqual([])
  })

  test('is written down in part with ids for what is left out', async () => {
    const only = new Set(['Edge'])
    const result = await exportAccount({
      kinds: new KindsRegistry(kinds),
      reader: planning.reader,
      namespace: NAMESPACE,
      only,
    })
    const { manifests } = result
    expect(new Set(manifests.map(({ manifest }) => manifest.kind))).toEqual(only)
    for (const { manifest } of manifests) {
      expect(manifest.spec).toMatchObject({ backend: { id: expect.stringMatching(/^bkdtg_hand/) } })
    }
    const plan = await planning.plan(parseManifestsAt(manifestText(result), 'export.yaml'))
    expect(plan.operations).toEqual([])
  })
})

describe('an account with markers that others have written', () => {
  const planted = [
    { kind: 'IPPolicy', namespace: 'kube-system', name: 'planted' },
    { kind: 'IPPolicy', namespace: NAMESPACE, name: '../../etc/cron.d/x' },
    { kind: 'IPPolicy', namespace: '../../etc', name: 'x' },
    { kind: 'IPPolicy', namespace: NAMESPACE, name: 'a\n---\nkind: Pod\u001b[2J' },
    { kind: 'Edge', namespace: NAMESPACE, name: 'of-another-kind' },
  ]
  const markerOf = (marker: object) => {
    return JSON.stringify({ culvert: { installation: 'i', uid: 'u', nonce: 'n', ...marker } })
  }

  test('is written down with names of its own, in the namespace that was asked for', async () => {
    const world = await startWorld()
    await world.admin.seed({
      objects: {
        ip_policies: planted.map((marker, index) => ({ id: `ipp_${index}`, metadata: markerOf(marker) })),
        'edges/tcp': [{ ip_restriction: { ip_policy_ids: ['ipp_0'] } }],
      },
    })
    const planning = new Planning(world)
    const result = await exportAccount({
      kinds: new KindsRegistry(kinds),
      reader: planning.reader,
      namespace: NAMESPACE,
    })
    await planning.close()
    await world.close()
    expect(result.leftOut).toEqual([])
    const text = manifestText(result)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    const manifests = parseManifestsAt(text, 'export.yaml').map(({ manifest }) => manifest)
    const policies = manifests.filter(({ kind }) => kind === 'IPPolicy')
    expect(policies.map(({ metadata }) => metadata).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
      planted.map((_, index) => ({ namespace: NAMESPACE, name: `ippolicy-ipp-${index}` })),
    )
    expect(text.match(/^# Marked as /gm)).toHaveLength(planted.length)
    expect(text).toContain('# Marked as IPPolicy kube-system/planted, the only resource that can manage it')
    const edge = manifests.find(({ kind }) => kind === 'Edge')
    expect(edge?.spec).toMatchObject({ ipRestriction: { ipPolicyRefs: [{ id: 'ipp_0' }] } })
  })
})

describe('an export', () => {
  test.each(cases)(
    'of what a $kind ($title) makes is planned without any request',
    async ({ kind, title, spec, needs }) => {
      const name = `${kind}-${title}`
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .slice(0, 40)
      await planning.apply(manifestsOf([...needs(name), { kind, name, spec: spec(name) }]))
      const manifests = await exported()
      const plan = await planning.plan(manifests)
      expect(plan.operations).toEqual([])
      expect(plan.unplanned.filter(({ reason }) => reason !== 'Observed')).toEqual([])
    },
  )
})

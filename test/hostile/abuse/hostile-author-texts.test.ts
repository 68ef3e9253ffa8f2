import { expect, test } from 'vitest'
import { KubeError } from '../../../src/kube/kube-error.ts'
import { parseObject } from '../../../src/managed/descriptor/metadata.ts'
import type { SchemaNode } from '../../../src/schema/schema-node.ts'
import { toStructural } from '../../../src/schema/structural.ts'
import { applyNeeds, casesTitled, managed } from '../../cluster/support/cases.ts'
import { secrets } from '../../cluster/support/tokens.ts'
import { conditionOf, core, type Resource, World } from '../../cluster/support/world.ts'

type Spec = Record<string, unknown>

/** Text that breaks quotes, templates, lines, terminals and reading order. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: as people write them
const NASTY = '"\'`\\${jndi:x}{{.}}%s%n\r\n{"level":60,"msg":"forged"}\t\u0000\u001b[2J\u202e\u2066😀\u{e0001}<script>'

/** A Secret or a ConfigMap. */
interface Holder {
  readonly data?: Readonly<Record<string, string>>
}

/** A text field of a spec: the keys that lead to it, and what its schema says. */
interface Place {
  readonly path: readonly (string | number)[]
  readonly node: SchemaNode
}

/** Every text field of `spec`, except enums. */
function placesIn(
  spec: unknown,
  node: SchemaNode | undefined,
  path: readonly (string | number)[] = [],
): readonly Place[] {
  if (node === undefined) return []
  if (typeof spec === 'string') return node.enum === undefined ? [{ path, node }] : []
  if (Array.isArray(spec))
    return spec.slice(0, 1).flatMap((each, index) => placesIn(each, node.items, [...path, index]))
  if (typeof spec !== 'object' || spec === null) return []
  return Object.entries(spec).flatMap(([name, value]) => {
    return placesIn(value, node.properties?.[name] ?? node.additionalProperties, [...path, name])
  })
}

function withText(spec: unknown, [first, ...rest]: readonly (string | number)[], text: string): unknown {
  if (first === undefined) return text
  if (Array.isArray(spec)) return spec.map((each, index) => (index === first ? withText(each, rest, text) : each))
  const fields = spec as Spec
  return { ...fields, [first]: withText(fields[first], rest, text) }
}

/** Every text in `value`, including texts inside texts that are JSON objects, such as `metadata`. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value, ...textsIn(parseObject(value))]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** As long as the field allows, mostly of characters that take two code units and four bytes each. */
function longest({ maxLength = 1024 }: SchemaNode, name: string): string {
  const most = Math.min(maxLength, 20_000)
  return `${'😀'.repeat(Math.max(0, most - name.length))}${name}`.slice(0, 2 * most)
}

interface Told {
  readonly carried: number
  readonly refused: number
  readonly conditions: number
}

/** Secrets and ConfigMaps of the world's namespace; their keys count as texts. */
async function outputsOf({ kube, namespace }: World): Promise<readonly unknown[]> {
  const lists = await Promise.all(
    [secrets, core('configmaps', 'ConfigMap')].map((type) => kube.list(type, { namespace })),
  )
  return lists.flatMap(({ items }) => items.flatMap((each) => [each, ...Object.keys((each as Holder).data ?? {})]))
}

/**
 * Applies `text` in that field; returns whether it was refused with the field's name, sent unchanged, or reported in a
 * condition.
 */
async function tryText(
  world: World,
  kind: string,
  name: string,
  spec: Spec,
  place: Place,
  text: string,
): Promise<keyof Told> {
  const field = place.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')
  const label = `${kind} spec${field} ${JSON.stringify(text.slice(0, 8))}`
  const mark = world.mark()
  let cr: Resource
  try {
    cr = await world.apply(kind, name, withText(spec, place.path, text) as Spec)
  } catch (error) {
    expect(error, label).toBeInstanceOf(KubeError)
    const named = place.path.filter((key) => typeof key === 'string')
    expect(
      named.some((key) => String((error as Error).message).includes(String(key))),
      `${label}: ${(error as Error).message.slice(0, 300)}`,
    ).toBe(true)
    return 'refused'
  }
  expect(JSON.stringify(cr.spec), label).toContain(JSON.stringify(text))
  const settled = await world.until(
    kind,
    name,
    `is settled (${label})`,
    (each) => {
      const ready = conditionOf(each, 'Ready')
      return (
        ready !== undefined && ready.reason !== 'Progressing' && ready.observedGeneration === each.metadata.generation
      )
    },
    60_000,
  )
  const synced = conditionOf(settled, 'Synced')
  if (synced?.status !== 'True') {
    expect(synced?.message.length, label).toBeGreaterThan(10)
    expect(synced?.message, label).not.toMatch(/[\p{Cc}\u202e\u2066]/u)
    return 'conditions'
  }
  // Only this resource has the text; an inline definition may be an object of its own at the API.
  const sent = world.journal(mark).filter(({ method }) => method !== 'GET')
  const bodies = sent.map(({ body }) => body)
  // References in the cluster and fields that do not concern the API are not sent.
  const isLocal = place.path.some((key) => /(Refs?|From)$/.test(String(key)))
  const isHidden = bodies.some((body) => typeof body === 'string' && /^\[\d+ bytes\]$/.test(body))
  // Output metadata is written to the Secret or ConfigMap.
  const found = place.path[0] === 'output' ? await outputsOf(world) : bodies
  if (!isLocal && !isHidden) expect(textsIn(found), label).toContain(text)
  return 'carried'
}

test('an odd or endless text in any field is refused by name, stored unchanged, or reported in a condition', {
  timeout: 600_000,
}, async () => {
  await using world = await World.open()
  const cases = casesTitled('full')
  await applyNeeds(world, cases, ['a'])
  const counts: Record<keyof Told, number> = { carried: 0, refused: 0, conditions: 0 }
  await Promise.all(
    cases.map(async ({ kind, title, spec }) => {
      const definition = managed.find((each) => each.definition.kind === kind)?.definition
      if (definition === undefined) throw new Error(`${kind} is no kind`)
      const base = spec(`${kind.toLowerCase()}-${title}-a`)
      const places = placesIn(base, toStructural(definition.spec, 'spec'))
      let index = 0
      for (const place of places) {
        for (const textOf of [(name: string) => `${NASTY}${name}`, (name: string) => longest(place.node, name)]) {
          const name = `odd-${kind.toLowerCase()}-${index++}`
          const text = textOf(name)
          counts[await tryText(world, kind, name, base, place, text)]++
          if ((await world.get(kind, name)) !== undefined) await world.delete(kind, name)
        }
      }
    }),
  )
  console.info(
    `texts: ${counts.refused} refused at once, ${counts.carried} carried, ${counts.conditions} told in a condition`,
  )
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
  const lines = world.operator.log
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly msg?: string; readonly level?: number })
  expect(lines.filter(({ msg }) => msg === 'forged' || msg === 'reconcile threw')).toEqual([])
  expect(lines.filter(({ level = 0 }) => level >= 50)).toEqual([])
})

test('a resource of one mebibyte is reported in a condition and does not stop the operator', {
  timeout: 120_000,
}, async () => {
  await using world = await World.open()
  const body = '\u0001'.repeat(180_000)
  const said: string[] = []
  for (const text of [body, 'x'.repeat(1_040_000), '😀'.repeat(255_000)]) {
    const name = `big-${said.length}`
    try {
      await world.apply('Backend', name, { type: 'HTTPResponse', httpResponse: { body: text } })
    } catch (error) {
      said.push(`refused at once: ${(error as Error).message.slice(0, 200)}`)
      continue
    }
    const cr = await world.until(
      'Backend',
      name,
      'is settled',
      (each) => {
        return (
          ['True', 'False'].includes(conditionOf(each, 'Ready')?.status ?? '') &&
          conditionOf(each, 'Ready')?.reason !== 'Progressing'
        )
      },
      60_000,
    )
    said.push(`${conditionOf(cr, 'Ready')?.reason}: ${conditionOf(cr, 'Ready')?.message}`)
  }
  console.info(said)
  await world.apply('Backend', 'small', { type: 'TunnelGroup', tunnelGroup: {} })
  await world.ready('Backend', 'small')
})

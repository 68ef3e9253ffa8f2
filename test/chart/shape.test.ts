import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  anything,
  between,
  exactly,
  listOf,
  map,
  object,
  oneOf,
  problemsOf,
  required,
} from '../../scripts/permissions/shape.ts'
import { BUILD_MS, judge, PINNED, type Sent } from './support/admission.ts'

/** An object with each form of shape: what must be there, what may, entries of a map, one item, several, a whole. */
const shape = object({
  apiVersion: anything,
  kind: anything,
  metadata: anything,
  name: required(oneOf('a')),
  labels: map((key, value) => `${key} == 'own' && ${value} == 'x'`),
  spec: object({ port: required(between(1, 9)), mode: oneOf('a', 'b'), ports: listOf(between(1, 9), { most: 2 }) }),
  pod: { ...object({ user: required(exactly("'nobody'")) }), isWhole: true },
})

type Tree = Readonly<Record<string, unknown>>

/** The same in words of its own: paths that differ from both the shape and what is stored. */
function expected(now: Tree, before: Tree | undefined): ReadonlySet<string> {
  const found = new Set<string>()
  const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)
  const isPort = (each: unknown): boolean => typeof each === 'number' && each >= 1 && each <= 9
  const stored = before ?? {}
  const spec = now.spec as Tree | undefined
  const storedSpec = stored.spec as Tree | undefined
  const keys = (name: string, all: Tree = {}, was: Tree = {}, isListed: (key: string, value: unknown) => boolean) => {
    for (const key of new Set([...Object.keys(all), ...Object.keys(was)])) {
      const isBad = key in all ? !isListed(key, all[key]) : !isListed(key, was[key])
      if (isBad && !same(all[key], was[key])) found.add(`${name}${key}`)
    }
  }
  keys('', now, stored, (key) => ['name', 'labels', 'spec', 'pod'].includes(key))
  keys('labels.', now.labels as Tree, stored.labels as Tree, (key, value) => key === 'own' && value === 'x')
  keys('spec.', spec, storedSpec, (key) => ['port', 'mode', 'ports'].includes(key))
  keys('pod.', now.pod as Tree, {}, (key) => key === 'user')
  const value = (path: string, is: unknown, was: unknown, isGood: boolean, isRequired: boolean) => {
    if (is === undefined ? isRequired && (before === undefined || was !== undefined) : !isGood && !same(is, was)) {
      found.add(path)
    }
  }
  value('name', now.name, stored.name, now.name === 'a', true)
  if (spec) {
    value('spec.port', spec.port, storedSpec?.port, isPort(spec.port), true)
    value('spec.mode', spec.mode, storedSpec?.mode, ['a', 'b'].includes(String(spec.mode)), false)
    const ports = (spec.ports ?? []) as readonly unknown[]
    value('spec.ports', spec.ports, storedSpec?.ports, ports.length <= 2 && ports.every(isPort), false)
  }
  const pod = now.pod as Tree | undefined
  if (pod && pod.user !== 'nobody') found.add('pod.user')
  return found
}

const word = fc.constantFrom('a', 'b', 'x', 'nobody')
const port = fc.constantFrom(0, 1, 9, 10)
const tree = fc.record(
  {
    name: word,
    other: word,
    labels: fc.dictionary(fc.constantFrom('own', 'team'), word),
    spec: fc.record({ port, mode: word, ports: fc.array(port, { maxLength: 3 }), extra: word }, { requiredKeys: [] }),
    pod: fc.record({ user: word, root: word }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)

const good: Tree = { name: 'a', labels: { own: 'x' }, spec: { port: 1 }, pod: { user: 'nobody' } }
const field = fc.constantFrom('name', 'other', 'labels', 'spec', 'pod')

function changed(tree: Tree, other: Tree, key: string): Tree {
  const { [key]: _, ...rest } = tree
  return key in other ? { ...rest, [key]: other[key] } : rest
}

/** An object and what is stored: any two, or two that differ in one field, or one that is almost as described. */
const pair = fc.oneof(
  fc.tuple(tree, tree),
  fc.tuple(tree, tree, field).map(([before, other, key]): [Tree, Tree] => [changed(before, other, key), before]),
  fc.tuple(tree, field).map(([other, key]): [Tree, undefined] => [changed(good, other, key), undefined]),
)

const policy = {
  metadata: { name: 'shape' },
  spec: {
    failurePolicy: 'Fail',
    variables: [
      { name: 'former', expression: 'oldObject == null ? {} : oldObject' },
      { name: 'allowedExtras', expression: '[]' },
      { name: 'problems', expression: problemsOf(shape) },
    ],
    validations: [
      {
        expression: 'variables.problems.size() == 0',
        messageExpression: "'differs: ' + variables.problems.join(', ')",
      },
    ],
  },
}

it('finds every path that is neither described nor as it is stored, and no other', { timeout: BUILD_MS }, async () => {
  const pairs = fc.sample(pair, { numRuns: 3000, seed: 47 })
  const thing = (fields: Tree): Sent => ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name: 'thing' },
    ...fields,
  })
  const requests = pairs.map(([now, before]) => ({
    resource: 'things',
    object: thing(now),
    oldObject: before && thing(before),
  }))
  const { errors, results } = await judge(PINNED, { policy, user: 'somebody', requests })
  expect(errors).toEqual([])
  let refused = 0
  for (const [index, [now, before]] of pairs.entries()) {
    const said = results[index]?.denials.join() ?? ''
    const paths = said === '' ? [] : said.replace('differs: ', '').split(', ')
    expect({ now, before, paths: new Set(paths) }).toEqual({ now, before, paths: expected(now, before) })
    if (paths.length > 0) refused++
  }
  console.log(`${pairs.length} pairs of objects, of which ${refused} are refused`)
  expect(refused).toBeGreaterThan(1000)
  expect(refused).toBeLessThan(pairs.length - 50)
})

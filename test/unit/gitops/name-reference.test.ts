import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { kinds } from '../../../src/kinds/index.ts'

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
}

/** References that are no fields of such a name. */
const OTHERS = new Set(['Edge spec/backend', 'Tunnel spec/service'])
/** The operator makes what they refer to: no kustomization has it. */
const NEVER_RENAMED = new Set(['TunnelSessionCommand spec/target/sessionRef'])

/** Fields of a kind that hold the name of another resource. */
function referencesIn(kind: string, node: Node, path: string): readonly string[] {
  return Object.entries(node.properties ?? {}).flatMap(([field, held]) => {
    const content = held.items ?? held
    const here = `${kind} ${path}/${field}`
    const isReference = /Refs?$/.test(field) || OTHERS.has(here)
    const own =
      isReference && content.properties?.name !== undefined && !NEVER_RENAMED.has(here) ? [`${here}/name`] : []
    return [...own, ...referencesIn(kind, content, `${path}/${field}`)]
  })
}

test('kustomize knows every field with the name of another resource', () => {
  const file = readFileSync(new URL('../../../gitops/kustomize/name-reference.yaml', import.meta.url), 'utf8')
  const { nameReference } = parse(file) as {
    nameReference: readonly { kind: string; fieldSpecs: readonly { kind: string; path: string }[] }[]
  }
  const known = new Set(
    nameReference.flatMap(({ fieldSpecs }) => fieldSpecs.map(({ kind, path }) => `${kind} ${path}`)),
  )
  const fields = kinds.flatMap(({ definition }) => referencesIn(definition.kind, definition.spec as Node, 'spec'))
  expect([...known].toSorted()).toEqual([...new Set(fields)].toSorted())
})

import { inject } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { KUBERNETES_VERSION } from '../../../controlplane/build.ts'
import { type ProgramResult, runProgram } from '../../../controlplane/run-program.ts'
import { CHART } from './paths.ts'
import './provided.ts'

/** Values of the chart, as in values.yaml. */
export type Values = { readonly [name: string]: unknown }

/** A rendered object. */
export interface Rendered {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/** Major versions of Helm that the chart supports. */
export const HELMS = [4, 3] as const

/** The two ways to run the operator. Without CRDs, which only their own tests check: ten times as fast. */
export const MODES = {
  cluster: { crds: { install: false } },
  namespaces: { crds: { install: false }, watchNamespaces: ['shop', 'web'] },
} as const satisfies Readonly<Record<string, Values>>

export const RELEASE = 'culvert'
export const NAMESPACE = 'culvert-system'

/** Runs a major version of Helm; `values` are passed as a file on standard input. */
export function helm(major: (typeof HELMS)[number], args: readonly string[], values?: Values): Promise<ProgramResult> {
  const given = values === undefined ? {} : { stdin: JSON.stringify(values) }
  const file = values === undefined ? [] : ['--values', '-']
  return runProgram(inject('helms')[major], [...args, ...file], given)
}

/** The objects that the chart renders from these values. @throws Error with Helm's message */
export async function render(
  major: (typeof HELMS)[number],
  values: Values,
  flags: readonly string[] = [],
): Promise<readonly Rendered[]> {
  return objectsIn(await renderText(major, values, flags))
}

/** The same as text. */
export async function renderText(
  major: (typeof HELMS)[number],
  values: Values,
  flags: readonly string[] = [],
): Promise<string> {
  const { code, stdout, stderr } = await template(major, values, flags)
  if (code !== 0) throw new Error(`helm template failed: ${stderr}`)
  return stdout
}

/** The result of `helm template`, even if it fails. */
export function template(
  major: (typeof HELMS)[number],
  values: Values,
  flags: readonly string[] = [],
): Promise<ProgramResult> {
  return helm(major, [...templateArgs(NAMESPACE), ...flags], values)
}

/** The arguments with which Helm renders the chart for a namespace. */
export function templateArgs(namespace: string): readonly string[] {
  // A Helm built by `go install` assumes an old cluster version unless it asks a cluster.
  return ['template', RELEASE, CHART, '--namespace', namespace, '--kube-version', KUBERNETES_VERSION]
}

/** The objects of a stream of YAML documents. */
export function objectsIn(text: string): readonly Rendered[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null)
}

/** Values over values, as Helm merges them. */
export function merged(under: Values, over: Values): Values {
  const result: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = under[key]
    result[key] = isMap(value) && isMap(below) ? merged(below, value) : value
  }
  return result
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value at a dotted path: `valuesAt('image.tag', 'x')` is `{image: {tag: 'x'}}`. */
export function valuesAt(path: string, value: unknown): Values {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Values
}

/** What is at a dotted path of an object, list members by number. */
export function at(object: unknown, path: string): unknown {
  const keys = path === '' ? [] : path.split('.')
  return keys.reduce<unknown>((inner, key) => (inner as Values | undefined)?.[key], object)
}

/** The object of a kind and a name, or undefined. */
export function find(
  objects: readonly Rendered[],
  kind: string,
  name: string,
  namespace?: string,
): Rendered | undefined {
  return objects.find((object) => {
    const { metadata } = object
    return (
      object.kind === kind && metadata.name === name && (namespace === undefined || metadata.namespace === namespace)
    )
  })
}

/** Arguments of a container of a Pod or of an object with a template for one. */
export function argumentsOf(
  objects: readonly Rendered[],
  kind: string,
  name: string,
  container = 0,
): readonly string[] {
  const path = kind === 'Pod' ? 'spec' : 'spec.template.spec'
  return (at(find(objects, kind, name), `${path}.containers.${container}.args`) ?? []) as readonly string[]
}

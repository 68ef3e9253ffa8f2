import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { chartValues, settable } from '../../scripts/chart-values.ts'
import { operatorCommand } from '../../src/cli/operator-command.ts'
import {
  argumentsOf,
  find,
  HELMS,
  MODES,
  merged,
  type Rendered,
  render,
  type Values,
  valuesAt,
} from './support/helm.ts'
import { CHART } from './support/paths.ts'
import { aroundCases } from './support/value-cases/around.ts'
import type { Sight, ValueCase } from './support/value-cases/case.ts'
import { monitoringCases } from './support/value-cases/monitoring.ts'
import { operatorCases } from './support/value-cases/operator.ts'

type Major = (typeof HELMS)[number]

/** Values whose effect another test checks: that of the CRDs. */
const ELSEWHERE = ['crds.install', 'crds.keep']

/** Operator flags without a value in the chart, and why. */
const WITHOUT_VALUE: Readonly<Record<string, string>> = {
  '--kubeconfig': 'a Pod reaches its cluster by its service account; operator.extraArgs for another one',
  '--context': 'goes with --kubeconfig',
  '--namespace': 'the release is in it: POD_NAMESPACE',
  '--release': 'ends the operator: a command for people (docs/leaving.md)',
  '--release-timeout': 'goes with --release',
}

/** Each value is seen with both Helms, one in each mode if it has both: how they render does not depend on the mode. */
const RENDERED_BY = { cluster: 4, namespaces: 3 } as const satisfies Readonly<Record<keyof typeof MODES, Major>>

const cases = [...operatorCases, ...aroundCases, ...monitoringCases]
const modes = Object.keys(MODES) as (keyof typeof MODES)[]

describe.each(modes)('with one operator for the %s mode', (mode) => {
  for (const [index, each] of cases.entries()) {
    if (each.only !== undefined && each.only !== mode) continue
    // Each value is seen every time with one Helm, and every third with the other.
    const tags = each.only === undefined && mode === 'namespaces' && index % 3 > 0 ? ['nightly'] : []
    it(`${each.path} does what it says`, { tags }, async () => {
      const majors = each.only === undefined ? [RENDERED_BY[mode]] : HELMS
      await Promise.all(majors.map((major) => expectEffect(major, mode, each)))
    })
  }
})

it('sets every flag of the operator from a value', async () => {
  const set = new Set<string>()
  for (const { path, to, beside } of [...operatorCases, ...aroundCases]) {
    const objects = await remembered(
      RENDERED_BY.cluster,
      merged(merged(MODES.cluster, beside ?? {}), valuesAt(path, to)),
    )
    for (const argument of argumentsOf(objects, 'Deployment', 'culvert')) set.add(flagOf(argument))
  }
  const flags = operatorCommand().options.map(({ long }) => long ?? '')
  expect(flags.filter((flag) => !set.has(flag) && WITHOUT_VALUE[flag] === undefined)).toEqual([])
  expect(Object.keys(WITHOUT_VALUE).filter((flag) => set.has(flag) && flag !== '--context')).toEqual([])
})

it('describes every value', async () => {
  const values = settable(chartValues(await readFile(join(CHART, 'values.yaml'), 'utf8')))
  const paths = values.map(({ path }) => path).filter((path) => !ELSEWHERE.includes(path))
  expect(new Set(cases.map(({ path }) => path))).toEqual(new Set(paths))
  expect(cases).toHaveLength(paths.length)
  expect(values.filter(({ description }) => description === '')).toEqual([])
})

async function expectEffect(major: Major, mode: keyof typeof MODES, each: ValueCase): Promise<void> {
  const beside = merged(MODES[mode], each.beside ?? {})
  const without = await remembered(major, beside)
  const having = await remembered(major, merged(beside, valuesAt(each.path, each.to)))
  for (const sight of each.sees) {
    expectSight(having, sight)
    expect(() => expectSight(without, sight), 'is so without the value').toThrow()
  }
}

function expectSight(objects: readonly Rendered[], { kind, name, namespace, like }: Sight): void {
  const found = find(objects, kind, name, namespace)
  if (like === undefined) {
    expect(found).toBeUndefined()
  } else {
    expect(found).toBeDefined()
    expect(found).toMatchObject(like)
  }
}

const renders = new Map<string, Promise<readonly Rendered[]>>()

/** The same values are rendered once: each render is a process. */
function remembered(major: Major, values: Values): Promise<readonly Rendered[]> {
  const key = JSON.stringify([major, values])
  const known = renders.get(key) ?? render(major, values)
  renders.set(key, known)
  return known
}

function flagOf(argument: string): string {
  return argument.split('=', 1)[0] ?? ''
}

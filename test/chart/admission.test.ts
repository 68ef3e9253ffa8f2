import { beforeAll, describe, expect, it } from 'vitest'
import { operatorPolicy } from '../../scripts/permissions/operator-policy.ts'
import { kinds } from '../../src/kinds/index.ts'
import { KindsRegistry } from '../../src/managed/kinds-registry.ts'
import {
  BUILD_MS,
  type Judgement,
  judge,
  operationOf,
  RELEASES,
  type Request,
  type Result,
} from './support/admission.ts'
import { find, MODES, merged, NAMESPACE, RELEASE, render, type Values } from './support/helm.ts'
import {
  beside,
  type Many,
  outputWrites,
  resourceWrites,
  runtimeWrites,
  serviceWrites,
  tunnelWrites,
} from './support/operator-objects.ts'

/** Entries of every list in the values that the policy has. */
const ENTRIES = 64
const listed = (make: (index: number) => string): readonly string[] =>
  Array.from({ length: ENTRIES }, (_, i) => make(i))

const values: Values = merged(MODES.cluster, {
  image: { repository: 'registry.example.com/culvert', tag: 'v1' },
  dnsEndpoints: { enabled: true, domains: listed((i) => `*.apps${i}.example.com`) },
  tunnels: {
    enabled: true,
    gateways: listed((i) => `ssh${i}.example.com:22`),
    services: { enabled: true, default: true },
    templates: {
      enabled: true,
      images: listed((i) => `registry.example.com/agents${i}/*`),
      metadataKeys: listed((i) => `example${i}.com/*`),
      priorityClasses: listed((i) => `system-class-${i}`),
    },
  },
  admissionPolicy: {
    operator: {
      protectedNamespaces: listed((i) => `protected-${i}-*`),
      extraFields: listed((i) => `deployments.spec.template.spec.field${i}`),
    },
  },
})

const user = `system:serviceaccount:${NAMESPACE}:${RELEASE}`

/** The policy as the chart has it. */
const policy = async (): Promise<object> => {
  const name = `${NAMESPACE}-${RELEASE}-operator`
  const found = find(await render(4, values), 'ValidatingAdmissionPolicy', name)
  if (found === undefined) throw new Error('the chart has no policy for the operator')
  return found
}

/** The variables with what is described, one for each different description. */
const described = operatorPolicy(new KindsRegistry(kinds)).variables.flatMap(({ name }) =>
  /^problems\d+$/.test(name) ? [`variables.${name}`] : [],
)

const writesOf = (many: Many): readonly Request[] => [
  ...tunnelWrites(many, 'registry.example.com/culvert:v1'),
  ...serviceWrites(many),
  ...outputWrites(many),
  ...resourceWrites(many),
  ...runtimeWrites(many),
]

const few: Many = { items: 2, ports: 2, bytes: 1000 }
const most: Many = { items: 100, ports: 16, bytes: 1_000_000 }

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
/** As much as Kubernetes lets annotations have, in few and in many. */
const ANNOTATION_BYTES = 256 * 1024
const annotations = [1, 1000].map((count) => {
  const size = Math.floor(ANNOTATION_BYTES / count) - 'example.com/note-0000'.length
  return Object.fromEntries(times(count, (i) => [`example.com/note-${i}`, 'x'.repeat(size)]))
})
const others = {
  labels: Object.fromEntries(times(100, (i) => [`example.com/label-${i}`, 'x'.repeat(63)])),
  ownerReferences: times(99, (i) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${i}`, uid: `${i}` })),
  finalizers: times(100, (i) => `example.com/finalizer-${i}`),
}
/** Never stored, so that nobody else writes into them; and Events, which nobody does. */
const UNSTORED = ['events', 'tokenreviews', 'subjectaccessreviews']
const isStored = ({ resource }: Request): boolean => !UNSTORED.includes(resource)

const nameOf = (request: Request): string =>
  [operationOf(request), request.resource, request.subresource].filter((part) => part !== undefined).join(' ')

/** The requests that are denied, with the messages. */
function denied(requests: readonly Request[], results: readonly Result[]) {
  return requests.flatMap((request, index) => {
    const { denials = [] } = results[index] ?? {}
    return denials.length === 0 ? [] : [{ what: nameOf(request), denials }]
  })
}

/**
 * What requests cost, and how much that is of what the API server allows for all expressions together, and for one:
 * whichever is more.
 */
function sharesOf(requests: readonly Request[], results: readonly Result[], { budget, limit }: Judgement) {
  return results.map(({ costs, milliseconds: ms }, index) => {
    const each = Object.values(costs)
    const cost = each.reduce((sum, one) => sum + one, 0)
    const percent = Math.round(100 * Math.max(cost / budget, Math.max(...each) / limit))
    return { what: nameOf(requests[index] ?? { resource: '' }), cost, percent, ms }
  })
}

const small = writesOf(few)
const large = writesOf(most)

const batches = {
  /** As the API server gets them, and as it stores them: with its defaults. */
  plain: [
    ...small,
    ...small
      .filter(isStored)
      .map(({ object, oldObject = object, ...rest }): Request => ({ ...rest, object, oldObject })),
  ],
  wrong: small.map(
    ({ object, ...rest }): Request => ({
      ...rest,
      object: object && { ...object, metadata: { ...object.metadata, generateName: 'x' } },
    }),
  ),
  largest: [
    ...large,
    ...annotations.flatMap((each) =>
      large.filter(isStored).map((write) => beside({ annotations: each, ...others }, write)),
    ),
  ],
} as const satisfies Readonly<Record<string, readonly Request[]>>

describe.each(RELEASES)('by the admission of Kubernetes, $name', (release) => {
  let judgement: Judgement
  let results: Readonly<Record<keyof typeof batches, readonly Result[]>>

  beforeAll(async () => {
    const { plain, wrong, largest } = batches
    judgement = await judge(release, { policy: await policy(), user, requests: [...plain, ...wrong, ...largest] })
    const until = plain.length + wrong.length
    results = {
      plain: judgement.results.slice(0, plain.length),
      wrong: judgement.results.slice(plain.length, until),
      largest: judgement.results.slice(until),
    }
  }, BUILD_MS)

  it('accepts the policy as a new one', () => {
    const { kubernetes, expressions, errors } = judgement
    console.log(`${expressions} expressions compile on Kubernetes ${kubernetes} as those of a new policy`)
    expect(release.name).toMatch(new RegExp(`^${kubernetes}\\b`))
    expect(expressions).toBeGreaterThan(50)
    expect(errors).toEqual([])
  })

  it('admits what the operator writes, with the defaults of the API server', () => {
    expect(denied(batches.plain, results.plain)).toEqual([])
    const evaluated = new Set(results.plain.flatMap(({ costs }) => Object.keys(costs)))
    expect(described.filter((name) => !evaluated.has(name))).toEqual([])
  })

  it('says which field differs from what the operator writes', () => {
    const named = results.wrong.map(({ denials }) => /\w+\.metadata\.generateName/.exec(denials.join())?.[0])
    expect(named).toEqual(batches.wrong.map(({ resource }) => `${resource}.metadata.generateName`))
  })

  it('evaluates the largest writes for less than a quarter of what they may cost', () => {
    expect(denied(batches.largest, results.largest)).toEqual([])
    const shares = sharesOf(batches.largest, results.largest, judgement)
    const dearest = shares.toSorted((left, right) => right.cost - left.cost).slice(0, 10)
    const lines = dearest.map(({ what, cost, percent, ms }) => `${what}: ${cost} (${percent} %), ${ms} ms`)
    console.log([`Costs on Kubernetes ${judgement.kubernetes}, of ${shares.length} writes:`, ...lines].join('\n'))
    expect(shares.filter(({ percent }) => percent >= 25)).toEqual([])
  })
})

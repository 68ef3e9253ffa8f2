/*
 * Whether a connection to an edge is admitted, and by which rule: the operator's side of `docs/api-decisions.md § Traffic in
 * the emulator`. The emulator has a reading of its own (`docs/decisions/0004-emulator-shares-nothing.md`), and a test
 * compares the two.
 */
import { judgePolicies, judgeRestrictions } from './addresses.ts'
import { judgeBackend } from './backends.ts'
import { judgeClientCertificate } from './client-certificate.ts'
import { judgeTrafficRules } from './traffic-rules.ts'
import {
  type Asked,
  type Choices,
  DECIDED,
  type Edge,
  type Finding,
  READINGS,
  type Step,
  type StepKind,
  type World,
} from './world.ts'

const ADDRESSES = ['restrictions', 'ip-policies', 'traffic-policy'] as const
const HANDSHAKE = ['certificate', 'version', 'client-certificate'] as const

/** The order of the steps, under each reading. */
const ORDERS: Readonly<Record<Choices['judging-order'], readonly StepKind[]>> = {
  'account-first': ['edge', ...ADDRESSES, ...HANDSHAKE, 'backend'],
  'edge-first': ['edge', 'ip-policies', 'restrictions', 'traffic-policy', ...HANDSHAKE, 'backend'],
  'handshake-first': ['edge', ...HANDSHAKE, ...ADDRESSES, 'backend'],
}

/** The version that the decided reading has for an edge without `min_version`. */
const DEFAULT_VERSION = '1.2'

/**
 * Judges a connection step by step, in the order of the reading. Pure. After a step that refuses, the others are not
 * reached; a step that is unknown ends nothing, since a later one may refuse in any case.
 *
 * @throws Error if the client's certificate is no PEM
 */
export function judge(world: World, asked: Asked, choices: Choices = DECIDED): readonly Step[] {
  const found = findings(world, asked, choices)
  const refusing = (order: readonly StepKind[]): StepKind | undefined => {
    return order.find((kind) => found.get(kind)?.outcome === 'refuses')
  }
  const order = ORDERS[choices['judging-order']]
  const first = refusing(order)
  const others = Object.values(ORDERS).map(refusing)
  const elsewhere = [...new Set(others)].filter((kind) => kind !== undefined && kind !== first)
  const end = first === undefined ? order.length : order.indexOf(first)
  return order.flatMap((kind, index): readonly Step[] => {
    const finding = found.get(kind)
    if (finding === undefined) return []
    if (index > end) return [{ kind, outcome: 'not-reached', text: `${first} refuses it before` }]
    if (kind !== first || elsewhere.length === 0) return [{ kind, ...finding }]
    const note = `the contract leaves the order open: another service may name ${elsewhere.join(' or ')} instead`
    return [{ kind, ...finding, details: [...(finding.details ?? []), note] }]
  })
}

/** Whether the connection is admitted. Refused is certain, whatever is unknown. */
export function verdictOf(steps: readonly Step[]): 'admitted' | 'refused' | 'unknown' {
  if (steps.some(({ outcome }) => outcome === 'refuses')) return 'refused'
  return steps.some(({ outcome }) => outcome === 'unknown') ? 'unknown' : 'admitted'
}

/** Other readings of single points, as `name=value`, under which the verdict on the connection is another. */
export function otherReadings(world: World, asked: Asked, choices: Choices = DECIDED): readonly string[] {
  const verdict = verdictOf(judge(world, asked, choices))
  return Object.entries(READINGS).flatMap(([name, values]) => {
    const others = values.filter((value) => verdictOf(judge(world, asked, { ...choices, [name]: value })) !== verdict)
    return others.map((value) => `${name}=${value}`)
  })
}

function findings(world: World, asked: Asked, choices: Choices): ReadonlyMap<StepKind, Finding> {
  const { edge, policies } = world
  const question = { source: asked.source, policies, choices }
  const restrictions = (): Finding => judgeRestrictions(world.restrictions, question)
  if ('unknown' in edge)
    return new Map([
      ['edge', { outcome: 'unknown', text: edge.unknown }],
      ['restrictions', restrictions()],
    ])
  const { value, source } = edge
  if (value === undefined)
    return new Map([['edge', { outcome: 'refuses', text: `${source.name} serves no such hostport`, source }]])
  const { protocol, host, port, backend } = value
  const found = new Map<StepKind, Finding>([
    ['edge', { outcome: 'passes', text: `${source.name} serves ${host}:${port}`, source }],
    ['restrictions', restrictions()],
    ['ip-policies', byModule(judgeAddresses(value, question), source)],
    [
      'traffic-policy',
      byModule(judgeTrafficRules(value.trafficRules ?? [], { ...asked, protocol, host, port }), source),
    ],
  ])
  const endsAtEdge = protocol === 'tls' && terminatesAt(value, choices) === 'edge'
  if (protocol === 'tls')
    for (const [kind, finding] of handshake(world, value, { asked, endsAtEdge }))
      found.set(kind, byModule(finding, source))
  const passesTls = protocol === 'tls' && !endsAtEdge
  return found.set('backend', byModule(judgeBackend(backend, { backends: world.backends, choices, passesTls }), source))
}

/** What a module of the edge decides is in the edge, if nowhere else. */
function byModule(finding: Finding, source: Finding['source']): Finding {
  return { ...finding, source: finding.source ?? source }
}

function judgeAddresses({ policies }: Edge, question: Parameters<typeof judgePolicies>[1]): Finding {
  if (policies === undefined) return { outcome: 'passes', text: 'the edge restricts no address' }
  return judgePolicies(policies, question)
}

/** A `mutual_tls` that is enabled must be able to act, whatever the default is. */
function terminatesAt({ termination, authorities }: Edge, choices: Choices): 'edge' | 'upstream' {
  return termination?.at ?? (authorities === undefined ? choices['termination-default'] : 'edge')
}

interface HandshakeQuestion {
  readonly asked: Asked
  readonly endsAtEdge: boolean
}

function handshake(
  { authorities, certificate }: World,
  edge: Edge,
  { asked, endsAtEdge }: HandshakeQuestion,
): readonly (readonly [StepKind, Finding])[] {
  if (!endsAtEdge) return [['certificate', { outcome: 'passes', text: 'TLS passes through to the upstream' }]]
  const wanted = edge.authorities?.map((id) => [id, authorities.get(id)] as const)
  return [
    ['certificate', certificateFinding(certificate)],
    ['version', versionFinding(edge.termination?.minVersion, asked.version)],
    [
      'client-certificate',
      wanted === undefined
        ? { outcome: 'passes', text: 'the edge asks for no client certificate' }
        : judgeClientCertificate(asked.certificate, wanted, asked.at),
    ],
  ]
}

function certificateFinding(certificate: World['certificate']): Finding {
  if ('unknown' in certificate) return { outcome: 'unknown', text: certificate.unknown }
  const { value, source } = certificate
  return value
    ? { outcome: 'passes', text: `${source.name} has a certificate`, source }
    : { outcome: 'refuses', text: `${source.name} has no certificate`, source }
}

function versionFinding(minVersion: string | undefined, version: string | undefined): Finding {
  const least = minVersion === undefined ? DEFAULT_VERSION : versionNamed(minVersion)
  if (least === undefined)
    return { outcome: 'unknown', text: `the least version is ${minVersion}, which is not known here` }
  if (version === undefined || version >= least)
    return { outcome: 'passes', text: `the edge accepts TLS ${least} and later` }
  return {
    outcome: 'refuses',
    text: `the edge accepts TLS ${least} and later, and the client speaks ${version} at most`,
  }
}

/** `1.2` of `1.2`, `tls1.2` or `TLSv1.2`. */
function versionNamed(text: string): string | undefined {
  return /^(?:tls[ _-]?v?)?(?<number>1\.[0-3])$/i.exec(text)?.groups?.number
}

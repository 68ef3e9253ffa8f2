import type { StepKind } from '../../judging/world.ts'
import type { EdgeSpec } from '../../kinds/edge/edge-schema.ts'
import type { IPRestrictionSpec } from '../../kinds/ip-restriction.ts'
import { type AccountKey, type AccountResource, accountKey, accountText } from '../../managed/account-resource.ts'
import { nameOf, type ResourceName, shortName, statusOf } from '../../managed/cr.ts'
import { accountDefaults } from '../../managed/descriptor/account.ts'
import type { Ref } from '../../managed/descriptor/common.ts'
import type { KindsRegistry } from '../../managed/kinds-registry.ts'
import { accountOf } from '../../managed/references/account-choice.ts'
import { referredName } from '../../managed/references/crossings.ts'
import { type StatedResource, sidesOf, stateOf } from '../cluster/resource-state.ts'
import { nodeState, syncState } from '../tree/tree-lines.ts'
import { type BackendNode, backendTree, flattened, MISSING, NO_WEIGHT } from './backend-tree.ts'
import { asResource } from './live-resources.ts'

/** How something looks: `bad` is red, `idle` is left out of the judgement. */
export type Look = 'bad' | 'warn' | 'ok' | 'idle'

/** A line of a step: a resource, a rule, a host. */
export interface Part {
  readonly text: string
  /** Its weight or place, before the text. */
  readonly label?: string
  readonly look: Look
  /** What is wrong, or what else there is to know. */
  readonly detail?: string | undefined
  /** How far it is indented. */
  readonly depth?: number
  /** Id of an IP rule or restriction, or name of a traffic rule, by which a judgement refers to it. */
  readonly rule?: string | undefined
  /** Whether the text can be copied as an address. */
  readonly isAddress?: true
  /** The resource that it is about; where it fails, that one has to be changed. */
  readonly resource?: StatedResource | undefined
  /** What is wrong is in the spec, whatever the conditions say: it has to be edited. */
  readonly inSpec?: true
}

/** A step of the line of an edge, in the order of judging (`docs/api-decisions.md § Traffic in the emulator`). */
export interface EdgeStep {
  /** `control`: what has to work before a connection is judged. */
  readonly kind: StepKind | 'control'
  readonly title: string
  readonly look: Look
  /** What it does, in a few words. */
  readonly text: string
  readonly parts: readonly Part[]
}

/** An edge as it is shown. */
export interface EdgePicture {
  readonly steps: readonly EdgeStep[]
  /** Undefined: the edge has no backend. */
  readonly backend: BackendNode | undefined
}

/** Where the resources that an edge refers to are looked up. */
export interface Lookup {
  readonly kinds: KindsRegistry
  get(name: ResourceName): StatedResource | undefined
  list(kind: string): readonly StatedResource[]
}

const ORDER: readonly Look[] = ['bad', 'warn', 'ok', 'idle']

/** The worst of several looks. */
export function worst(looks: readonly Look[], otherwise: Look = 'ok'): Look {
  return ORDER.find((each) => looks.includes(each)) ?? otherwise
}

/** The steps of an edge, by what resources say: nothing is asked. */
export function pictureOf(lookup: Lookup, edge: StatedResource): EdgePicture {
  const spec = edge.spec as EdgeSpec
  const view: EdgeView = { lookup, edge, spec, account: accountNameOf(lookup, edge) }
  const { step: backend, tree } = backendStep(view)
  const isTLS = spec.protocol === 'TLS'
  const endsAtEdge = isTLS && !(isOn(spec.tlsTermination) && spec.tlsTermination?.terminateAt === 'Upstream')
  return {
    backend: tree,
    steps: [
      controlStep(view),
      hostStep(view),
      restrictionStep(view),
      policyStep(view),
      trafficStep(view),
      ...(endsAtEdge ? [certificateStep(view), versionStep(view), clientStep(view)] : []),
      backend,
    ],
  }
}

interface EdgeView {
  readonly lookup: Lookup
  readonly edge: StatedResource
  readonly spec: EdgeSpec
  /** Undefined: none can be chosen. */
  readonly account: AccountKey | undefined
}

function isOn(module: { readonly enabled?: boolean } | undefined): boolean {
  return module !== undefined && module.enabled !== false
}

function accountNameOf(lookup: Lookup, resource: StatedResource): AccountKey | undefined {
  const account = accountOf(
    {
      kinds: lookup.kinds,
      resources: {
        get: (name) => {
          const found = lookup.get(name)
          return found === undefined ? undefined : asResource(found)
        },
        hasAccount: ({ kind, name }, namespace) => {
          return lookup.get({ kind, name, namespace: kind === 'Account' ? namespace : undefined }) !== undefined
        },
        namespace: () => undefined,
      },
    },
    asResource(resource),
  )
  return account === undefined ? undefined : accountKey(account, resource.metadata.namespace ?? '')
}

/** A resource as a part: with what is wrong, if anything is. */
function resourcePart(name: string, resource: StatedResource | undefined, howIs = nodeState): Part {
  const { style, word, message } = howIs({ name, resource })
  const look = style === 'green' ? 'ok' : style === 'red' ? 'bad' : 'warn'
  return { text: name, label: word, look, detail: message, resource }
}

function referencePart({ lookup, edge }: EdgeView, kind: string, ref: Ref): Part {
  if (ref.id !== undefined)
    return { text: `${kind} ${ref.id}`, look: 'idle', detail: 'no resource shown here manages it' }
  const target = referredName(asResource(edge), { kind, ref })
  const place = target.namespace === edge.metadata.namespace ? '' : ` in namespace ${target.namespace}`
  const found = lookup.get(target)
  const name = `${shortName(target)}${place}`
  if (found === undefined && place !== '')
    return { text: name, look: 'idle', detail: 'its namespace is not shown here' }
  return resourcePart(name, found)
}

function stepOf(kind: EdgeStep['kind'], title: string, text: string, parts: readonly Part[] = []): EdgeStep {
  return {
    kind,
    title,
    text,
    parts,
    look: worst(
      parts.map(({ look }) => look),
      'idle',
    ),
  }
}

function controlStep({ account, edge, lookup }: EdgeView): EdgeStep {
  // What its condition Serving says is a matter of the backend step.
  const own = resourcePart(shortName(nameOf(edge)), edge, syncState)
  const found = account && lookup.get(account)
  const accountPart = account && resourcePart(shortName(account), found)
  const none: Part = { text: 'No account', look: 'bad', detail: 'no account can be chosen for it' }
  return stepOf('control', 'Control', stateOf(edge).message, [own, accountPart ?? none])
}

/** Where the edge listens, as the API last said. */
export function hostsOf(edge: StatedResource): readonly string[] {
  const { hostports = [] } = statusOf(asResource(edge))
  return hostports as readonly string[]
}

function hostStep(view: EdgeView): EdgeStep {
  const { edge, spec } = view
  const hosts = hostsOf(edge).map((text): Part => ({ text, look: 'ok', isAddress: true }))
  const reserved = (spec.hostports ?? []).flatMap(({ reservedDomainRef, reservedAddressRef }): readonly Part[] => {
    if (reservedDomainRef !== undefined) return [referencePart(view, 'ReservedDomain', reservedDomainRef)]
    return reservedAddressRef === undefined ? [] : [referencePart(view, 'ReservedAddress', reservedAddressRef)]
  })
  const nowhere: Part = { text: 'It listens nowhere', look: 'warn', detail: 'no endpoint is reported', resource: edge }
  const parts = [...(hosts.length === 0 ? [nowhere] : hosts), ...reserved]
  return stepOf('edge', 'Host', `${spec.protocol} connections to it`, parts)
}

function restrictionStep({ account, edge, lookup }: EdgeView): EdgeStep {
  const own = account && accountText(account)
  const all = lookup.list('IPRestriction').filter((restriction) => {
    const theirs = accountNameOf(lookup, restriction)
    const { type } = asResource(restriction).spec as unknown as IPRestrictionSpec
    return type === 'Endpoints' && theirs !== undefined && accountText(theirs) === own
  })
  const parts = all.map((restriction): Part => {
    const isEnforced = statusOf(asResource(restriction)).enforcement === 'Enforce'
    const { namespace, name } = nameOf(restriction)
    const place = namespace === edge.metadata.namespace ? '' : ` in namespace ${namespace}`
    const part = resourcePart(`IPRestriction/${name}${place}`, restriction)
    const detail = part.detail ?? (isEnforced ? 'enforced: it also decides for this edge' : 'only warns')
    return { ...part, detail, rule: textIn(restriction.status?.id) }
  })
  const text = all.length === 0 ? 'no resource shown here restricts the account' : 'of the account'
  return stepOf('restrictions', 'Account-wide', text, parts)
}

function policyStep(view: EdgeView): EdgeStep {
  const { ipRestriction } = view.spec
  if (!isOn(ipRestriction)) {
    return { ...stepOf('ip-policies', 'IP policies', 'every address may connect'), look: 'ok' }
  }
  const parts = (ipRestriction?.ipPolicyRefs ?? []).flatMap((ref): readonly Part[] => {
    const part = referencePart(view, 'IPPolicy', ref)
    const rules = (part.resource?.status?.rules ?? []) as readonly Readonly<Record<string, unknown>>[]
    const shown = rules.slice(0, SHOWN_RULES).map(({ cidr, action, id }): Part => {
      return { text: `${action} ${cidr}`, look: 'idle', depth: 1, rule: textIn(id) }
    })
    const more: readonly Part[] =
      rules.length <= SHOWN_RULES ? [] : [{ text: `and ${rules.length - SHOWN_RULES} more`, look: 'idle', depth: 1 }]
    return [{ ...part, rule: textIn(part.resource?.status?.id) }, ...shown, ...more]
  })
  const isOpen = parts.some(({ text, look }) => look === 'idle' && /^allow /i.test(text))
  const isKnown = parts.some(({ depth }) => depth === 1) || parts.every(({ look }) => look === 'ok')
  const [first] = parts
  if (isOpen || !isKnown || first === undefined)
    return stepOf('ip-policies', 'IP policies', 'only addresses with a rule', parts)
  const closed: Part = { ...first, look: 'bad', detail: 'no rule allows any address: nobody can connect', inSpec: true }
  return stepOf('ip-policies', 'IP policies', 'nobody can connect', [closed, ...parts.slice(1)])
}

/** Rules of one policy that are shown. */
const SHOWN_RULES = 200

function trafficStep({ edge, spec }: EdgeView): EdgeStep {
  const { trafficPolicy } = spec
  if (!isOn(trafficPolicy)) return { ...stepOf('traffic-policy', 'Traffic policy', 'none'), look: 'ok' }
  const rules = [...(trafficPolicy?.inbound ?? []), ...(trafficPolicy?.outbound ?? [])]
  const parts = rules.map(({ name, expressions = [], actions = [] }, index): Part => {
    const types = actions.map(({ type }) => type)
    const when = expressions.length === 0 ? 'always' : `if ${expressions.join(' and ')}`
    const deniesAll = expressions.length === 0 && types.some((type) => /^deny$/i.test(type))
    return {
      text: `${name ?? `rule ${index + 1}`}: ${types.join(', ')} ${when}`,
      rule: name,
      ...(deniesAll
        ? {
            look: 'bad',
            detail: 'the rule has no expression, and denies every connection',
            resource: edge,
            inSpec: true,
          }
        : { look: 'idle' }),
    }
  })
  const step = stepOf('traffic-policy', 'Traffic policy', 'in this order', parts)
  return step.look === 'idle' ? { ...step, look: 'ok' } : step
}

function certificateStep({ edge, lookup, spec }: EdgeView): EdgeStep {
  const domains = (spec.hostports ?? []).flatMap(({ reservedDomainRef: ref }) => {
    const target = ref?.name === undefined ? undefined : referredName(asResource(edge), { kind: 'ReservedDomain', ref })
    const domain = target && lookup.get(target)
    return target === undefined || domain === undefined ? [] : [{ target, domain }]
  })
  const parts = domains.map(({ target, domain }): Part => {
    const { certificateID, cnameTarget } = domain.status ?? {}
    const text = shortName(target)
    // Names of the service itself need no CNAME, and have its certificate.
    if (certificateID !== undefined || cnameTarget === undefined)
      return { text, look: 'ok', detail: 'has a certificate' }
    const { message } = nodeState({ name: text, resource: domain })
    return {
      text,
      look: 'bad',
      detail: `has no certificate${message === undefined ? '' : `: ${message}`}`,
      resource: domain,
    }
  })
  const text = domains.length === 0 ? "the service's own, or that of a domain without a resource" : 'of the domain'
  return stepOf('certificate', 'Certificate', text, parts)
}

function versionStep({ edge }: EdgeView): EdgeStep {
  const { minVersion } = moduleIn(edge, 'tlsTermination')
  const text = minVersion === undefined ? 'the versions that the service chooses' : `TLS ${minVersion} or later`
  return { ...stepOf('version', 'TLS version', text), look: 'ok' }
}

function clientStep(view: EdgeView): EdgeStep {
  const { mutualTLS } = view.spec
  if (!isOn(mutualTLS)) return { ...stepOf('client-certificate', 'Client certificate', 'not needed'), look: 'ok' }
  const refs = mutualTLS?.certificateAuthorityRefs ?? []
  const parts = refs.map((ref) => referencePart(view, 'CertificateAuthority', ref))
  return stepOf('client-certificate', 'Client certificate', 'needed, signed by one of', parts)
}

function backendStep(view: EdgeView): {
  readonly step: EdgeStep
  readonly tree: BackendNode | undefined
} {
  const { edge, lookup, spec } = view
  const { backend } = spec
  const isNamed = backend?.name !== undefined || backend?.id !== undefined
  if (backend === undefined || !isOn(backend) || !isNamed) {
    const text = backend === undefined ? 'The edge has no backend' : 'The backend is disabled'
    const part: Part = { text, look: 'bad', detail: 'connections are closed', resource: edge, inSpec: true }
    return { step: stepOf('backend', 'Backend', 'nobody answers', [part]), tree: undefined }
  }
  const find = (from: StatedResource, ref: Ref): StatedResource | undefined => {
    return ref.name === undefined ? undefined : lookup.get(referredName(asResource(from), { kind: 'Backend', ref }))
  }
  const tree = backendTree(find, edge, backend)
  const parts = [...flattened(tree)].map(({ node, depth }): Part => backendPart(node, depth, { tree, edge }))
  return { step: stepOf('backend', 'Backend', `${TEXTS[tree.serves]}; ${ageText(view)}`, parts), tree }
}

const TEXTS = { yes: 'answers', no: 'nobody answers', unknown: 'what answers is not known here' } as const

/** Tunnels come and go without a change of any resource. */
function ageText({ account, lookup }: EdgeView): string {
  const resource = account && lookup.get(account)
  const { resyncInterval = accountDefaults.resyncInterval } = (resource as AccountResource | undefined)?.spec ?? {}
  return `tunnels as of the last read, up to ${resyncInterval} ago`
}

/** The backends of an edge. */
interface BackendsOf {
  readonly tree: BackendNode
  readonly edge: StatedResource
}

/** A backend is red only if nothing else answers. */
function backendPart(node: BackendNode, depth: number, { tree, edge }: BackendsOf): Part {
  const { resource, name, label, text, serves } = node
  const state = resource === undefined ? undefined : syncState({ name, resource })
  const part = { text: `${name}: ${text}`, depth, resource, ...(label === '' ? {} : { label }) }
  const [side] = resource === undefined ? [] : sidesOf(resource)
  if (state !== undefined && state.style !== 'green') {
    return { ...part, look: state.style === 'red' ? 'bad' : 'warn', detail: state.message }
  }
  if (text === MISSING) return { ...part, text: name, look: 'bad', detail: MISSING, resource: edge }
  if (serves !== 'no') return { ...part, look: serves === 'yes' ? 'ok' : 'idle' }
  const isCause = node.children.every((child) => child.serves !== 'no') || node.text === NO_WEIGHT
  const look = tree.serves === 'no' && isCause ? 'bad' : 'warn'
  if (node.text === NO_WEIGHT) return { ...part, look, detail: 'no child receives traffic', inSpec: true }
  return side === undefined ? { ...part, look } : { ...part, look, text: name, detail: side.message }
}

function moduleIn(edge: StatedResource, field: string): Readonly<Record<string, unknown>> {
  const modules = (edge.status?.modules ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>
  return modules[field] ?? {}
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

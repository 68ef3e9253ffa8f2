import { nameText } from '../../../managed/cr.ts'
import { type Reason, reasons } from '../../../managed/descriptor/reasons.ts'
import { accountAbout } from '../../cluster/account-access.ts'
import { FOREIGN_FINALIZERS, type StatedResource, stateOf } from '../../cluster/resource-state.ts'
import { Snapshot } from '../../cluster/snapshot.ts'
import { namespaceFlag } from '../../flags.ts'
import { spanText } from '../../terminal/line.ts'
import { findCauses, type Link, ownSides } from '../../why/causes.ts'
import { namedFor, remedyOf, sideRemedy } from '../../why/remedy.ts'
import type { Finding, Severity } from '../finding.ts'
import { objectText, operatorAt, type Patient } from '../patient.ts'
import { isAccountWell } from './accounts.ts'

/** How long something may be in progress before it is worth a finding. Milliseconds. */
const PATIENCE_MS = 10 * 60_000

/** Reasons that resolve by themselves. */
const PASSING: ReadonlySet<string> = new Set<Reason>([
  'Progressing',
  'CreateUnresolved',
  'CertificatePending',
  'RotationWaiting',
  'CommandRunning',
])

/** A cause, and the resources that wait for it. */
interface Trouble {
  readonly links: readonly Link[]
  readonly waiting: StatedResource[]
}

/** What does not work, once for each cause, however many resources wait for it. */
export async function checkResources(patient: Patient): Promise<readonly Finding[]> {
  const { accounts, cluster, composed, members, now } = patient
  const snapshot = new Snapshot(cluster.kinds, cluster.kube)
  snapshot.hold([...accounts, ...members, ...composed])
  const troubles = new Map<string, Trouble>()
  const unwell = [
    ...accounts.filter((account) => !isAccountWell(account)),
    ...[...members, ...composed].filter(isUnwell),
  ]
  for (const resource of unwell) {
    const links = await findCauses(snapshot, resource)
    const root = links.at(-1)
    if (root === undefined) continue
    const key = nameText(root.name)
    const trouble = troubles.get(key) ?? { links, waiting: [] }
    // The shortest way ends with what names the cause directly.
    const nearest = links.length < trouble.links.length ? links : trouble.links
    troubles.set(key, { links: nearest, waiting: [...trouble.waiting, ...(links.length > 1 ? [resource] : [])] })
  }
  const findings = [...troubles.values()].map(async (trouble): Promise<readonly Finding[]> => {
    const root = trouble.links.at(-1)
    const severity = root && severityOf(root, now)
    if (root === undefined || severity === undefined) return []
    const account = root.resource && (await accountAbout(snapshot, root.resource))
    const operator = operatorAt(patient, account)
    // That the operator does not run is a finding of its own, and the cause of this one.
    if (root.state?.phase === 'unseen' && operator.type === 'silent') return []
    const remedy = remedyOf(root, operator, namedFor(snapshot, root.name), now)
    return [findingOf(trouble, root, severity, remedy)]
  })
  return (await Promise.all(findings)).flat()
}

/** Conditions that are false although the resource works, except those that have checks of their own. */
export function checkConditions({ accounts, cluster, members }: Patient): readonly Finding[] {
  const snapshot = new Snapshot(cluster.kinds, cluster.kube)
  const works = [...accounts, ...members].filter((resource) => stateOf(resource).phase === 'current')
  return works.flatMap((resource) => {
    const sides = ownSides(resource).filter(({ condition }) => !CHECKED_ELSEWHERE.has(condition.reason))
    return sides.flatMap((side): readonly Finding[] => {
      const { text, command } = sideRemedy([side], (name) => namedFor(snapshot, name))
      if (text === '') return []
      const { reason, message } = side.condition
      const check = ofAccount(resource) ? 'account' : 'resources'
      const cause = `${reason}: ${message}`
      return [{ severity: 'warning', check, object: objectText(resource), cause, remedy: text, command }]
    })
  })
}

/** Tunnels only matter where they are used, and certificates near their end. */
const CHECKED_ELSEWHERE: ReadonlySet<string> = new Set<Reason>(['NoTunnels', 'RenewalFailing', 'DNSError', 'Expired'])

function isUnwell(resource: StatedResource): boolean {
  const { phase, reason } = stateOf(resource)
  // What is only observed may differ, and certificates and tunnels have checks of their own.
  return phase !== 'current' && !(phase === 'stalled' && reason === reasons.Expired)
}

function severityOf({ resource, state, unreadable }: Link, now: number): Severity | undefined {
  if (unreadable !== undefined) return 'unchecked'
  if (state === undefined || resource === undefined) return 'error'
  const ms = state.since === undefined ? 0 : now - Date.parse(state.since)
  switch (state.phase) {
    case 'stalled':
      return state.reason === reasons.AwaitingApproval ? 'warning' : 'error'
    case 'current':
      return resource.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
        ? 'warning'
        : 'error'
    case 'paused':
      return 'warning'
    case 'unseen':
      return ms < PATIENCE_MS ? undefined : 'error'
    case 'deleting':
      return ms < PATIENCE_MS && PASSING.has(state.reason) ? undefined : ms < PATIENCE_MS ? 'warning' : 'error'
    case 'inProgress':
      if (!PASSING.has(state.reason) && state.reason !== 'SpecChanged') return ofAccount(resource) ? 'error' : 'warning'
      return ms < PATIENCE_MS ? undefined : 'warning'
  }
}

function ofAccount({ kind }: StatedResource): boolean {
  return kind === 'Account' || kind === 'ClusterAccount'
}

function findingOf(
  { links, waiting }: Trouble,
  root: Link,
  severity: Severity,
  { text, command }: { readonly text: string; readonly command: string | undefined },
): Finding {
  const previous = links.at(-2)
  const about = root.resource ?? previous?.resource
  const others = waiting.filter((resource) => resource !== about)
  return {
    severity,
    check:
      root.state?.phase === 'deleting'
        ? 'deletion'
        : root.resource !== undefined && ofAccount(root.resource)
          ? 'account'
          : 'resources',
    object: about === undefined ? nameText(root.name) : objectText(about),
    cause: `${causeText(root)}${waitingText(others)}`,
    ...(text === '' ? {} : { remedy: text }),
    command,
  }
}

function causeText({ by, name, state, unreadable }: Link): string {
  if (unreadable !== undefined) return unreadable.message
  if (state === undefined) return `${by} is ${name.kind}/${name.name}, which does not exist`
  return state.reason === FOREIGN_FINALIZERS ? state.message : `${state.reason}: ${state.message}`
}

const NAMED = 3

function waitingText(others: readonly StatedResource[]): string {
  if (others.length === 0) return ''
  const names = others.slice(0, NAMED).map(({ kind, metadata }) => `${kind}/${metadata.name}`)
  const more = others.length > NAMED ? ` and ${others.length - NAMED} more` : ''
  return ` (${names.join(', ')}${more} ${others.length === 1 ? 'waits' : 'wait'} for it)`
}

/** How long before its end a certificate that no one renews is worth a finding. Milliseconds. */
const NEAR_MS = 14 * 24 * 60 * 60_000

/** Certificates that have expired, or will soon without a renewal. */
export function checkCertificates({ cluster: { kinds }, members, now }: Patient): readonly Finding[] {
  return members.flatMap((resource): readonly Finding[] => {
    const certificate = kinds.managedKind(resource.kind)?.status.certificate
    const status = resource.status ?? {}
    const until = Date.parse(certificate?.expiresAt?.(status) ?? '')
    if (certificate === undefined || Number.isNaN(until) || until - now > NEAR_MS) return []
    const renews = Date.parse(certificate.renewsAt(status) ?? '')
    if (until > now && renews > now) return []
    const object = objectText(resource)
    const failing = resource.status?.conditions?.find(({ reason }) => reason === reasons.RenewalFailing)
    const why = failing === undefined ? 'nothing renews it' : `its renewal fails: ${failing.message}`
    const cause =
      until <= now
        ? `its certificate expired ${spanText(now - until)} ago`
        : `its certificate expires in ${spanText(until - now)}, and ${why}`
    const command = `culvert why ${resource.kind.toLowerCase()}/${resource.metadata.name}${namespaceFlag(resource.metadata.namespace)}`
    return [{ severity: until <= now ? 'error' : 'warning', check: 'certificates', object, cause, command }]
  })
}

import { type CustomResource, nameOf, nameText } from '../../../managed/cr.ts'
import type { AccessNeeds } from '../../../managed/descriptor/access.ts'
import { conditionReasons, reasons } from '../../../managed/descriptor/reasons.ts'
import type { KindsRegistry } from '../../../managed/kinds-registry.ts'
import { kubectlName, writeCommand } from '../../../managed/kubectl.ts'
import { type StatedResource, stateOf } from '../../cluster/resource-state.ts'
import { namespaceFlag } from '../../flags.ts'
import { graphOf } from '../../tree/resource-graph.ts'
import type { Finding } from '../finding.ts'
import { objectText, type Patient } from '../patient.ts'

type Member = StatedResource & CustomResource

/** Groups in use without tunnels, and groups whose labels no credential may bind. */
export function checkTunnels({ ages, cluster: { kinds }, composed, members }: Patient): readonly Finding[] {
  const graph = graphOf(kinds, members)
  const needsOf = (resource: Member): AccessNeeds => kinds.managedKind(resource.kind)?.needs?.(resource.spec) ?? {}
  const used = members.filter((resource) => (graph.usedBy.get(nameText(nameOf(resource))) ?? []).length > 0)
  return used.flatMap((group): readonly Finding[] => {
    const chosen = needsOf(group).chosen?.labels
    if (chosen === undefined || !hasNoTunnels(group) || composed.some((each) => isFailingFor(each, group))) return []
    const object = objectText(group)
    const credentials = members.filter((each) => needsOf(each).bound !== undefined && isBeside(each, group))
    const { remedy } = conditionReasons.NoTunnels
    const labels = Object.entries(chosen).map(([key, value]) => `${key}=${value}`)
    if (credentials.length > 0 && !credentials.some((each) => mayBind(needsOf(each), chosen))) {
      const names = credentials.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', ')
      const cause = `its group has the labels ${labels.join(', ')}, but no credential has an acl that permits all of them (${names})`
      return [
        { severity: 'warning', check: 'acl', object, cause, remedy, command: editing(kinds, credentials[0] ?? group) },
      ]
    }
    const age = ages.get(nameText(nameOf(group)))
    const cause = `no tunnel with the labels ${labels.join(', ') || '(any)'} is online${age === undefined ? '' : ` (${age})`}, but the group receives traffic`
    return [
      {
        severity: 'warning',
        check: 'tunnels',
        object,
        cause,
        remedy,
        command: `culvert sessions list${namespaceFlag(group.metadata.namespace)}`,
      },
    ]
  })
}

function hasNoTunnels({ status }: StatedResource): boolean {
  return status?.conditions?.some(({ reason, status: is }) => reason === reasons.NoTunnels && is === 'False') ?? false
}

/** Whether a Tunnel for the group has a finding of its own, which is then the cause. */
function isFailingFor(tunnel: StatedResource, { metadata: { namespace, name } }: Member): boolean {
  const { backendRef } = tunnel.spec as { readonly backendRef?: { readonly name?: string } }
  const isFor = backendRef?.name === name && tunnel.metadata.namespace === namespace
  return isFor && stateOf(tunnel).phase !== 'current'
}

/** Whether two resources may live in one account: they are in one namespace. */
function isBeside(left: Member, right: Member): boolean {
  return left.metadata.namespace === right.metadata.namespace
}

/** Whether a credential with these needs may bind a tunnel with all of the labels. */
export function mayBind({ bound = [] }: AccessNeeds, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([key, value]) => {
    return bound.some((each) => [key, '*'].includes(each.key) && [value, '*'].includes(each.value))
  })
}

function editing(kinds: KindsRegistry, { kind, metadata }: StatedResource): string {
  return writeCommand('edit', kubectlName(kinds.resourceType(kind), metadata))
}

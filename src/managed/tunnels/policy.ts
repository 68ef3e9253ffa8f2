import { RESTARTED_AT } from '../composed/stored-template.ts'
import { isOwnKey } from '../descriptor/metadata.ts'
import type { TunnelTemplate } from '../descriptor/pod/template.ts'
import { reasons } from '../descriptor/reasons.ts'
import type { TunnelSpec } from '../descriptor/tunnel.ts'
import { TerminalError } from '../run/control-flow-errors.ts'
import { marks } from './objects.ts'

/** What the administrator lets the agents of Tunnels be. */
export interface TunnelPolicy {
  /** Image of Culvert's agents. */
  readonly image: string
  /**
   * SSH gateways that accounts may name, as `host:port` or `*.suffix:port`: an agent must not become a way for a
   * namespace user to reach other addresses.
   */
  readonly gateways: readonly string[]
  /** Whether Tunnels may have `spec.template` and `spec.agent`. Default: false. */
  readonly templates?: boolean
  /** Images that `spec.agent` may name, in full or as `prefix*`. Default: none. */
  readonly images?: readonly string[]
  /** Keys of labels and annotations that agents may have, in full or as `prefix*`. Default: none. */
  readonly metadataKeys?: readonly string[]
  /** Names of PriorityClasses that begin with `system-` and that agents may have. Default: none. */
  readonly priorityClasses?: readonly string[]
}

/**
 * The admission policies of the chart ask the same, of authors and of the operator; they may be off.
 *
 * @throws TerminalError if the Tunnel asks for what the administrator does not permit
 */
export function refuseUnpermitted({ template, agent }: TunnelSpec, policy: TunnelPolicy): void {
  const field = template === undefined ? 'spec.agent' : 'spec.template'
  if (template === undefined && agent === undefined) return
  if (policy.templates !== true) {
    const message = `${field}: not enabled in the operator: remove it, or have its administrator set tunnels.templates.enabled in the chart`
    throw new TerminalError(reasons.TemplatesDisabled, message)
  }
  // Culvert's own image is no exception: Node in it runs any program.
  if (agent !== undefined && !allows(policy.images, agent.image)) {
    const message = `spec.agent.image: "${agent.image}" is not allowed: use another image, or have the administrator add it to tunnels.templates.images in the chart`
    throw new TerminalError(reasons.ImageNotAllowed, message)
  }
  const [problem] = templateProblems(template ?? {}, policy)
  if (problem !== undefined) throw new TerminalError(reasons.TemplateNotAllowed, problem)
}

/** Keys that Culvert or `kubectl rollout restart` sets. */
const RESERVED_KEYS: ReadonlySet<string> = new Set([...Object.keys(marks('').labels), RESTARTED_AT])

function templateProblems(template: TunnelTemplate, { metadataKeys, priorityClasses = [] }: TunnelPolicy): string[] {
  const { labels = {}, annotations = {}, tolerations = [], priorityClassName = '' } = template
  const keys = Object.entries({ labels, annotations }).flatMap(([field, texts]) => {
    return Object.keys(texts)
      .filter((key) => isOwnKey(key) || RESERVED_KEYS.has(key) || !allows(metadataKeys, key))
      .map((key) => {
        return `spec.template.${field}: ${JSON.stringify(key)} is not allowed: remove it, or have the administrator add it to tunnels.templates.metadataKeys in the chart`
      })
  })
  const isSystem = priorityClassName.startsWith('system-') && !priorityClasses.includes(priorityClassName)
  return [
    ...keys,
    ...(isSystem
      ? [
          `spec.template.priorityClassName: "${priorityClassName}" is not allowed: use another class, or have the administrator add it to tunnels.templates.priorityClasses in the chart`,
        ]
      : []),
    // The CRD says the same, unless someone changed it.
    ...(tolerations.every(({ key }) => key) ? [] : ['spec.template.tolerations: every toleration requires a key']),
  ]
}

/** Whether a list of texts, which stand in full or as `prefix*`, contains the text. */
export function allows(patterns: readonly string[] = [], text: string): boolean {
  return patterns.some((pattern) => {
    return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
  })
}

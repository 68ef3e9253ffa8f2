import type { TunnelSpec } from '../descriptor/tunnel.ts'
import { TerminalError } from '../reconcile/errors.ts'
import { reasons } from '../status/reasons.ts'

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
  /** Images that these may name: whole ones, or everything that begins with the text before a `*` at the end. */
  readonly images?: readonly string[]
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
    const message = `${field}: the operator takes none: remove it, or have its administrator set tunnels.templates.enabled of the chart`
    throw new TerminalError(reasons.TemplatesDisabled, message)
  }
  const named = [
    ...(agent === undefined ? [] : [['spec.agent.image', agent.image] as const]),
    ...(template?.spec?.containers ?? []).flatMap(({ name, image }) => {
      return image === undefined ? [] : [[`spec.template.spec.containers[${name}].image`, image] as const]
    }),
  ]
  for (const [place, image] of named) {
    if (image === policy.image || allowsImage(image, policy.images ?? [])) continue
    const message = `${place}: "${image}" is not allowed: name another image, or let the administrator add it to tunnels.templates.images of the chart`
    throw new TerminalError(reasons.ImageNotAllowed, message)
  }
}

/** Whether a pattern of the list permits the image. */
export function allowsImage(image: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    return pattern.endsWith('*') ? image.startsWith(pattern.slice(0, -1)) : image === pattern
  })
}

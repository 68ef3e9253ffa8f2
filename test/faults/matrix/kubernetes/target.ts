import type { Sighting } from '../../simulation/faults.ts'

/** The target of a request to Kubernetes. */
export interface Target {
  readonly group: string
  readonly plural: string
  readonly name: string
  /** With its subresource, as named in roles. */
  readonly resource: string
  /** With its group, as named in messages. */
  readonly qualified: string
  readonly verb: string
  /** As in a Status. */
  readonly details: Readonly<Record<string, unknown>>
}

const PATH = /^(?:\/api\/v1|\/apis\/([^/]+)\/[^/]+)(?:\/namespaces\/[^/]+(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/
const VERBS: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PATCH: 'patch', DELETE: 'delete' }

export function targetOf({ path, method, body }: Sighting): Target {
  const [, group = '', plural = '', inPath = '', subresource] = PATH.exec(path) ?? []
  const name = inPath === '' ? nameIn(body) : inPath
  return {
    group,
    plural,
    name,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    qualified: group === '' ? plural : `${plural}.${group}`,
    verb: VERBS[method] ?? method.toLowerCase(),
    details: { name, ...(group === '' ? {} : { group }), kind: plural },
  }
}

function nameIn(body: string): string {
  if (body === '') return ''
  return (JSON.parse(body) as { readonly metadata?: { readonly name?: string } }).metadata?.name ?? ''
}
